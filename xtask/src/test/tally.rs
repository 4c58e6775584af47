//! What the tests came to.

/// Counts of tests, and what went wrong.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Names of those that were told one by one, and whether they passed.
    pub names: Vec<(String, bool)>,
}

impl Tally {
    /// One test that passed.
    pub fn pass(&mut self, name: &str) {
        self.passed += 1;
        self.names.push((name.to_owned(), true));
        println!("ok      {name}");
    }

    /// One test that failed, and why.
    pub fn fail(&mut self, name: &str, why: &str) {
        self.failed += 1;
        self.names.push((name.to_owned(), false));
        println!("FAILED  {name}\n        {}", why.replace('\n', "\n        "));
    }

    /// One test that could not be run here, and why.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.skipped += 1;
        println!("skipped {name}: {why}");
    }

    pub fn add(&mut self, other: &Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.names.extend_from_slice(&other.names);
    }

    /// The closing line.
    pub fn in_one_line(&self) -> String {
        let skipped = if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }

    /// The counts in libtest's closing lines (`test result: ok. 3 passed; 0 failed; 1 ignored; ...`).
    pub fn of_libtest(output: &str) -> Tally {
        let mut tally = Tally::default();
        for line in output.lines().filter_map(|line| line.strip_prefix("test result: ")) {
            let words: Vec<&str> = line.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
            let before = |name: &str| {
                let place = words.iter().position(|word| *word == name)?;
                words.get(place.checked_sub(1)?)?.parse::<usize>().ok()
            };
            tally.passed += before("passed").unwrap_or(0);
            tally.failed += before("failed").unwrap_or(0);
            tally.skipped += before("ignored").unwrap_or(0);
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_lines_are_added_up() {
        let tally = Tally::of_libtest(
            "running 3 tests\ntest result: FAILED. 2 passed; 1 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s\n",
        );
        assert_eq!(tally.in_one_line(), "7 passed, 1 failed, 4 skipped");
    }

    #[test]
    fn the_closing_line_names_skipped_tests_only_where_there_are_some() {
        assert_eq!(Tally { passed: 2, ..Tally::default() }.in_one_line(), "2 passed, 0 failed");
    }
}
