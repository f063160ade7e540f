//! The time that a stage will still take.

use std::time::{Duration, Instant};

use super::Progress;

/// A stage that is younger has no rate yet.
const SETTLING: Duration = Duration::from_millis(500);

/// Estimates the time left from the mean rate of the stage since its first report, so that the steps of an earlier run do not
/// count as speed.
#[derive(Debug, Default)]
pub struct StageClock {
    /// The stage, when its first report came, and the steps that were done then.
    stage: Option<(&'static str, Instant, u64)>,
}

impl StageClock {
    /// Time until all steps are done; `None` while the rate is not known, or the total.
    pub fn time_left(&mut self, progress: Progress) -> Option<Duration> {
        self.time_left_at(progress, Instant::now())
    }

    fn time_left_at(&mut self, progress: Progress, now: Instant) -> Option<Duration> {
        let Progress { stage, done, total } = progress;
        let (_, began, first) = match self.stage {
            Some(known) if known.0 == stage => known,
            _ => *self.stage.insert((stage, now, done)),
        };
        if total == 0 {
            return None;
        }
        let left = total.saturating_sub(done);
        if left == 0 {
            return Some(Duration::ZERO);
        }
        let (elapsed, steps) = (now - began, done.saturating_sub(first));
        if elapsed < SETTLING || steps == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let seconds = elapsed.as_secs_f64() * left as f64 / steps as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_before_the_first_report_is_no_speed() {
        let (mut clock, now) = (StageClock::default(), Instant::now());
        let mut left = |stage, done, total, seconds| {
            let time =
                clock.time_left_at(Progress { stage, done, total }, now + Duration::from_secs(seconds));
            time.map(|time| time.as_secs())
        };
        assert_eq!(left("read", 600, 1000, 0), None);
        assert_eq!(left("read", 600, 1000, 10), None);
        assert_eq!(left("read", 700, 1000, 10), Some(30));
        assert_eq!(left("read", 1000, 1000, 40), Some(0));
        // The next stage has a clock of its own.
        assert_eq!(left("merge", 0, 50, 40), None);
        assert_eq!(left("merge", 10, 50, 42), Some(8));
        assert_eq!(left("count", 0, 0, 50), None);
        assert_eq!(left("count", 10, 0, 60), None);
    }
}
