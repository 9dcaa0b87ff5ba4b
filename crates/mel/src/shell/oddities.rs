//! What may be meant in a recording, and often is not: samples that are all alike, or clipped.

/// Samples at full scale, one after another, of which a recording is taken for clipped.
const CLIPPED: usize = 3;

/// The largest positive number of 16 bits is 32767 of 32768.
const FULL: f32 = 32767.0 / 32768.0;

/// What was heard so far.
#[derive(Clone, Debug, Default)]
pub struct Oddities {
    first: Option<f32>,
    differs: bool,
    /// Samples of one sign at full scale, up to the last that was heard.
    run: usize,
    is_negative: bool,
    clipped: usize,
}

impl Oddities {
    /// The next samples; of any cutting the same is said.
    pub fn hear(&mut self, samples: &[f32]) {
        let Some(&new) = samples.first() else { return };
        let is_new = self.first.is_none();
        let first = *self.first.get_or_insert(new);
        self.differs |= samples[usize::from(is_new)..].iter().any(|&x| x != first);
        for x in samples {
            if x.abs() < FULL || x.is_nan() {
                self.end_run();
                continue;
            }
            if x.is_sign_negative() != self.is_negative {
                self.end_run();
            }
            self.is_negative = x.is_sign_negative();
            self.run += 1;
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        self.clipped += if run >= CLIPPED { run } else { 0 };
    }

    /// A line for each thing that is odd.
    pub fn said(mut self) -> Vec<String> {
        self.end_run();
        let mut all = Vec::new();
        if let Some(first) = self.first.filter(|_| !self.differs) {
            all.push(format!("every sample is {first}"));
        }
        if self.clipped > 0 {
            all.push(format!(
                "{} samples in runs of {CLIPPED} and more are at full scale: clipped",
                self.clipped
            ));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oddities(samples: &[f32]) -> Vec<String> {
        let of = |piece: usize| {
            let mut oddities = Oddities::default();
            samples.chunks(piece).for_each(|samples| oddities.hear(samples));
            oddities.said()
        };
        assert_eq!(of(2), of(samples.len().max(1)));
        of(1)
    }

    #[test]
    fn clipped_and_constant_sound_is_noticed() {
        let clipped = [0.1, 1.0, 1.0, 1.0, -1.0, -1.0, 0.2, 32767.0 / 32768.0, 1.0, 1.0];
        let text = "6 samples in runs of 3 and more are at full scale: clipped";
        assert_eq!(oddities(&clipped), [text]);
        assert_eq!(oddities(&[0.25; 4]), ["every sample is 0.25"]);
        assert!(oddities(&[]).is_empty() && oddities(&[0.1, 1.0, -1.0, 1.0]).is_empty());
    }
}
