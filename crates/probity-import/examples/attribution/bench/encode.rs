//! Rows as numbers of one scale. The scale and the words come from the runs that are trained on, and from no other.

use std::collections::{BTreeMap, BTreeSet};

use super::features::Row;

/// A word that fewer runs have is not learned.
const RUNS_OF_WORD_MIN: usize = 4;

/// Which features are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    Place,
    Content,
    All,
}

impl Set {
    pub(crate) const ALL: [Self; 3] = [Self::Place, Self::Content, Self::All];

    fn numbers(self, row: &Row) -> Vec<f64> {
        match self {
            Self::Place => row.place.clone(),
            Self::Content => row.content.clone(),
            Self::All => row.place.iter().chain(&row.content).copied().collect(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Encoder {
    set: Set,
    mean: Vec<f64>,
    scale: Vec<f64>,
    words: BTreeMap<String, usize>,
}

impl Encoder {
    pub(crate) fn of(runs: &[&[Row]], set: Set) -> Self {
        let numbers: Vec<Vec<f64>> =
            runs.iter().flat_map(|run| run.iter()).map(|row| set.numbers(row)).collect();
        let (count, width) = (numbers.len().max(1) as f64, numbers.first().map_or(0, Vec::len));
        let column = |at: usize| numbers.iter().map(move |row| row[at]);
        let mean: Vec<f64> = (0..width).map(|at| column(at).sum::<f64>() / count).collect();
        let spread = |at: usize| (column(at).map(|x| (x - mean[at]).powi(2)).sum::<f64>() / count).sqrt();
        let scale = (0..width).map(|at| if spread(at) > 1e-9 { 1.0 / spread(at) } else { 0.0 }).collect();
        let mut words: BTreeMap<&String, usize> = BTreeMap::new();
        for run in runs.iter().filter(|_| set != Set::Content) {
            let of_run: BTreeSet<&String> = run.iter().flat_map(|row| &row.words).collect();
            of_run.into_iter().for_each(|word| *words.entry(word).or_default() += 1);
        }
        let common = words.into_iter().filter(|(_, runs)| *runs >= RUNS_OF_WORD_MIN);
        let words = common.enumerate().map(|(at, (word, _))| (word.clone(), width + at)).collect();
        Self { set, mean, scale, words }
    }

    pub(crate) fn width(&self) -> usize {
        self.mean.len() + self.words.len()
    }

    /// Columns that are not 0, with what stands in them; in order, and each once.
    pub(crate) fn encode(&self, row: &Row) -> Vec<(usize, f64)> {
        let numbers = self.set.numbers(row);
        let scaled = numbers.iter().enumerate().map(|(at, x)| (at, (x - self.mean[at]) * self.scale[at]));
        let words: BTreeSet<usize> =
            row.words.iter().filter_map(|word| self.words.get(word).copied()).collect();
        let words = words.into_iter().map(|at| (at, 1.0));
        scaled.chain(words).filter(|(_, x)| *x != 0.0).collect()
    }
}
