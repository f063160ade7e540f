//! Jobs in order on a thread of their own, while the calling thread goes on.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use crate::{Error, Result};

/// Hands jobs to the background thread of [`with_background`].
pub struct Background<'a, J> {
    /// None where the system refuses a thread.
    sender: Option<SyncSender<J>>,
    /// The function that does jobs in place of the thread.
    work: Option<&'a mut dyn FnMut(J) -> Result<()>>,
}

impl<J> Background<'_, J> {
    /// Hands over a job. Waits until the thread is done with the job before, so at most one job is under way.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the thread has failed at a job; [`with_background`] answers the error of that job. Where there is no
    /// thread, the error of this job.
    pub fn push(&mut self, job: J) -> Result<()> {
        match (&self.sender, &mut self.work) {
            (Some(sender), _) => sender.send(job).map_err(|_| Error::Interrupted),
            (None, Some(work)) => work(job),
            (None, None) => Err(Error::Interrupted),
        }
    }
}

/// Calls `lead` on the calling thread; `work` does the jobs that `lead` hands over, one after the other, on a scoped thread. Returns once
/// all jobs are done. Where the system refuses a thread, the calling thread does each job as soon as it is handed over.
///
/// # Errors
/// The error of the first job that failed on the thread, which begins no job after it; else the error of `lead`.
pub fn with_background<J: Send, R>(
    mut work: impl FnMut(J) -> Result<()> + Send,
    lead: impl FnOnce(&mut Background<'_, J>) -> Result<R>,
) -> Result<R> {
    std::thread::scope(|scope| {
        // Without a buffer: a job waits for its turn on the calling thread.
        let (sender, receiver) = sync_channel::<J>(0);
        let work = &mut work;
        let (go, start) = sync_channel(1);
        let thread = Builder::new().spawn_scoped(scope, move || {
            let Ok(work) = start.recv() else { return Ok(()) };
            let work: &mut (dyn FnMut(J) -> Result<()> + Send) = work;
            receiver.into_iter().try_for_each(work)
        });
        let Ok(thread) = thread else {
            return lead(&mut Background { sender: None, work: Some(work) });
        };
        // The thread cannot have ended before it is told to start.
        drop(go.send(work));
        let outcome = lead(&mut Background { sender: Some(sender), work: None });
        let jobs = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        jobs.and(outcome)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_in_order_before_the_call_returns() {
        let mut done = Vec::new();
        let outcome = with_background(
            |job| {
                done.push(job);
                Ok(())
            },
            |background| (0..100).try_for_each(|job| background.push(job)),
        );
        assert!(outcome.is_ok());
        assert_eq!(done, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_error_of_a_job_ends_the_work_and_wins() {
        let mut done = 0;
        let outcome: Result<()> = with_background(
            |job| {
                done += 1;
                if job == 3 { Err(Error::UnknownId { id: job, vocab_size: 0 }) } else { Ok(()) }
            },
            |background| {
                (0..100).try_for_each(|job| background.push(job))?;
                Err(Error::Interrupted)
            },
        );
        assert!(matches!(outcome, Err(Error::UnknownId { id: 3, .. })));
        assert_eq!(done, 4);
    }

    #[test]
    fn an_error_of_the_calling_thread_comes_after_all_jobs() {
        let mut done = 0;
        let outcome: Result<()> = with_background(
            |()| {
                done += 1;
                Ok(())
            },
            |background| {
                background.push(())?;
                Err(Error::Interrupted)
            },
        );
        assert!(matches!(outcome, Err(Error::Interrupted)));
        assert_eq!(done, 1);
    }

    #[test]
    #[should_panic(expected = "of a job")]
    fn a_panic_of_a_job_is_passed_on() {
        let _ = with_background(|()| panic!("of a job"), |background| background.push(()));
    }
}
