"""The scripts of languages: which script a language is written in, unless its tag names another one.

Source: the likely subtags of Unicode's CLDR, version 49, for languages that have a locale there or a code of two
letters. A region is listed where it changes the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lexmill import _core
from lexmill.errors import OptionError

__all__ = ["scripts_of"]

# Tags of languages by the code of their script in ISO 15924.
_LANGUAGES = {
    "Arab": (
        "apc ar ary bal bgn bqi brh ckb fa ks lrc mzn ps sd sdh skr trw ug ur az-IQ az-IR ha-CM ha-SD kk-AF "
        "kk-CN kk-IR kk-MN ku-IQ ku-IR ku-LB ky-CN ms-CC pa-PK tg-PK uz-AF"
    ),
    "Armn": "hy",
    "Avst": "ae",
    "Beng": "as bn mni",
    "Cakm": "ccp",
    "Cans": "cr csw iu oj",
    "Cher": "chr",
    "Copt": "cop",
    "Cyrl": (
        "ab ady av ba be bg bua ce cu cv kaa kbd kk kv ky mdf mk mn myv os ru sah sr tg tt tyv uk xdq az-RU "
        "ku-AM ku-AZ ku-GE ku-TM ug-KZ ug-MN uz-CN"
    ),
    "Deva": "bgc bho brx doi hi kok mai mr ne raj sa suz xnr pi-IN sd-IN",
    "Ethi": "am byn gez ti tig wal",
    "Geor": "ka lzz-GE",
    "Grek": "el",
    "Gujr": "gu",
    "Guru": "pa",
    "Hans": "zh",
    "Hant": "yue",
    "Hebr": "he yi",
    "Hmnp": "hnj mww",
    "Jpan": "ja",
    "Khmr": "km",
    "Knda": "kn",
    "Kore": "ko",
    "Laoo": "lo",
    "Latn": (
        "aa af agq ak an ann arn asa ast ay az bas bem bew bez bi blo bm br bs bss ca cad cch ceb cgg ch cho "
        "cic co cs cy da dav de dje dsb dua dyo ebu ee en eo es et eu ewo ff fi fil fj fo fr frr fur fy ga "
        "gaa gd gl gn gsw guz gv ha haw ho hr hrx hsb ht hu hz ia id ie ig ik io is isv it jbo jgo jmc jv kab "
        "kaj kam kcg kde kea kek ken kg kgp khq ki kj kkj kl kln kpe kr ksb ksf ksh ku kw kxv la lag lb lg li "
        "lij lkt lld lmo ln lt ltg lu luo luy lv lzz mas mer mfe mg mgh mgo mh mhn mi mic moh mrh ms mt mua "
        "mus na naq nb nd nds ng nl nmg nn nnh no nr nso nus nv ny nyn oc oka om pap pcm pi pis pl pms prg pt "
        "qu quc rif rm rn ro rof rw rwk saq sbp sc scn se seh ses sg sgs sid sk sl sm sma smj smn sms sn so "
        "sq ss ssy st su sus sv sw szl teo tk tl tn to tok tpi tr trv ts twq ty tzm uz ve vec vi vmw vo vun "
        "wa wae wbp wo xh xog yav yo yrl za zu ky-TR sr-ME sr-RO sr-TR"
    ),
    "Mlym": "ml",
    "Mong": "mn-CN",
    "Mymr": "my shn pi-MM",
    "Nkoo": "nqo",
    "Olck": "sat",
    "Orya": "or",
    "Osge": "osa",
    "Rohg": "rhg",
    "Sinh": "si pi-LK",
    "Syrc": "syr",
    "Taml": "ta",
    "Tavt": "blt",
    "Telu": "te",
    "Tfng": "shi zgh",
    "Thaa": "dv",
    "Thai": "th pi-TH",
    "Tibt": "bo dz",
    "Vaii": "vai",
    "Yiii": "ii",
}

# Codes of ISO 15924 that stand for several scripts of Unicode, or for a style of one.
_SCRIPTS = {
    "Aran": "Arab",
    "Cyrs": "Cyrl",
    "Hanb": "Hani Bopo",
    "Hans": "Hani",
    "Hant": "Hani",
    "Hrkt": "Hira Kana",
    "Jamo": "Hang",
    "Jpan": "Hani Hira Kana",
    "Kore": "Hang Hani",
    "Latf": "Latn",
    "Latg": "Latn",
}

_SCRIPT_OF = {tag: script for script, tags in _LANGUAGES.items() for tag in tags.split()}

# The beginning of a tag of BCP 47: language, extended languages, script, region.
_TAG = re.compile(
    r"([a-z]{2,8})(?:-[a-z]{3})*(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?(?:-[a-z0-9]{1,8})*", re.IGNORECASE | re.ASCII
)


def scripts_of(languages: Iterable[str]) -> list[str]:
    """The names of the scripts of languages, given by tags of BCP 47 such as `de`, `zh-TW` or `hi-Latn`.

    Raises:
        OptionError: a tag is not well-formed, or its language or script is unknown.
    """
    names = _core.script_codes()
    found: dict[str, None] = {}
    for tag in [languages] if isinstance(languages, str) else languages:
        code = _code_of(tag)
        for part in _SCRIPTS.get(code, code).split():
            if part not in names:
                message = f"languages has {tag!r}, but {part} is no script of Unicode, such as Latn, Cyrl or Deva"
                raise OptionError(message)
            found[names[part]] = None
    return list(found)


def _code_of(tag: str) -> str:
    match = _TAG.fullmatch(str(tag).replace("_", "-"))
    if match is None:
        message = f"languages has {tag!r}, but must have tags such as 'de', 'zh-TW' or 'hi-Latn'"
        raise OptionError(message)
    language, script, region = (part or "" for part in match.groups())
    if script:
        return script.capitalize()
    language = language.lower()
    found = _SCRIPT_OF.get(f"{language}-{region.upper()}") or _SCRIPT_OF.get(language)
    if found is None:
        message = f"languages has {tag!r}, whose script is not known; name the script too, as in '{language}-Latn'"
        raise OptionError(message)
    return found
