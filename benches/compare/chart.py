"""The chart: bars of the first pass, a panel a corpus, of the job that most libraries can do."""

from __future__ import annotations

from pathlib import Path

from tables import OURS, Line, build, megabytes

# Legible on white and on black, as the drawing has no background of its own.
TEXT, BAR, OUR_BAR = "#7d8590", "#8b949e", "#d2691e"


def draw(lines: list[Line], target: Path, *, mixed: bool) -> bool:
    """Draws the lines, a panel each, fastest library on top; says whether there were any."""
    if not lines:
        return False
    import matplotlib as mpl

    mpl.use("svg")
    # Text stays text, and two runs over the same figures give the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": OURS, "font.family": "sans-serif"})
    from matplotlib import pyplot

    heights = [len(line.figures) for line in lines]
    figure, all_axes = pyplot.subplots(
        len(lines), 1, figsize=(8, 0.32 * sum(heights) + 0.7 * len(lines)), height_ratios=heights, squeeze=False
    )
    for axes, line in zip(all_axes[:, 0], lines, strict=True):
        rows = sorted(line.figures, key=lambda row: float(row["mb_per_second_cold"]))
        libraries = [row["library"].replace("_", "-") for row in rows]
        speeds = [float(row["mb_per_second_cold"]) for row in rows]
        bars = axes.barh(libraries, speeds, color=[OUR_BAR if name == OURS else BAR for name in libraries], height=0.7)
        axes.bar_label(bars, fmt="%.0f", padding=4, color=TEXT, fontsize=9)
        axes.set_title(panel_title(line, mixed=mixed), loc="left", color=TEXT, fontsize=10)
        axes.tick_params(colors=TEXT, length=0, labelsize=9)
        axes.set_xticks([])
        axes.set_xlim(0, max(speeds) * 1.12)
        for spine in axes.spines.values():
            spine.set_visible(False)
    figure.tight_layout()
    figure.savefig(target, transparent=True, metadata={"Date": None})
    return True


def panel_title(line: Line, *, mixed: bool) -> str:
    """What a panel shows."""
    row = line.first
    threads = "1 thread" if row["threads"] == "1" else f"{row['threads']} threads"
    text = f"{row['tokenizer']}, {row['corpus']}, {megabytes(row)} MB: MB/s, first pass, {threads}"
    return text + (f", commit {build(row).replace('`', '')}" if mixed else "")
