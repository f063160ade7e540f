//! Word counts of several domains as one, each multiplied by a factor.

use std::path::Path;
use std::sync::Arc;

use super::counts_file::{Addend, CountsFile, merge_in_levels, report, summed, write_run};
use super::reader::{Run, RunReader};
use super::word::{CountedWord, Place};
use super::writer::too_many;
use crate::structures::parallel::OnProgress;
use crate::{Error, Result};

impl CountsFile {
    /// The sum of several counts of the same stages, each multiplied by its factor, in a file of `folder`, with at most about `memory`
    /// bytes: the counts of a corpus in which each domain stands as often as its factor tells, one domain after the other.
    ///
    /// The sources are numbered again, in the order of `domains`. A domain with the factor 0 is left out. Texts and bytes of the
    /// summary are not multiplied.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if all counts together exceed 64 bits, if all factors are 0, if there are more sources than numbers, or
    /// if stages or spellings differ; [`Error::Io`]; [`Error::Format`] for a damaged file; the errors of
    /// `on_progress`.
    pub fn mix(
        domains: &[(Self, u64)],
        folder: &Path,
        memory: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        let domains: Vec<&(Self, u64)> = domains.iter().filter(|(_, factor)| *factor > 0).collect();
        let addends: Vec<Addend> =
            domains.iter().map(|(counts, _)| Addend::Open(Box::new(counts.clone()))).collect();
        let summary = summed(&addends)?;
        let mut next = 0;
        let mut scaled = Vec::with_capacity(domains.len());
        for (counts, factor) in domains {
            let (run, end) = counts.scaled(*factor, next, folder, on_progress)?;
            scaled.push(run);
            next = end;
        }
        let run = merge_in_levels(scaled.into_iter().map(Ok), folder, memory, &summary, on_progress)?;
        Ok(Self::of_run(run))
    }

    /// A copy whose counts are multiplied by `factor` and whose sources are numbered from `first` on, and the number after the last.
    fn scaled(
        &self,
        factor: u64,
        first: u64,
        folder: &Path,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(Arc<Run>, u64)> {
        let (mut reader, summary) = (RunReader::new(self.run()), self.summary());
        let (mut done, mut end) = (0, first);
        let run = write_run(folder, |writer| {
            while reader.advance()? {
                report(&mut done, "weigh counts", summary.words, on_progress)?;
                let CountedWord { word, count, first: Place { source, at } } = reader.word();
                let count = count.checked_mul(factor).ok_or_else(too_many)?;
                let numbered = first + u64::from(source);
                let source = u32::try_from(numbered).map_err(|_| {
                    Error::Unsupported(format!(
                        "a corpus may have {} sources, in all domains together",
                        u32::MAX
                    ))
                })?;
                end = end.max(numbered + 1);
                writer.push(CountedWord { word, count, first: Place { source, at } })?;
            }
            Ok(summary.clone())
        })?;
        Ok((Arc::new(run), end))
    }

    /// The bytes of all words, each as often as it was counted.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] for a damaged file; the errors of `on_progress`.
    pub fn counted_bytes(&self, on_progress: &mut OnProgress<'_>) -> Result<u128> {
        let (mut reader, mut done, mut bytes) = (self.reader(), 0, 0_u128);
        while reader.advance()? {
            report(&mut done, "measure domains", self.summary().words, on_progress)?;
            let CountedWord { word, count, .. } = reader.word();
            bytes = bytes.saturating_add(word.len() as u128 * u128::from(count));
        }
        Ok(bytes)
    }
}
