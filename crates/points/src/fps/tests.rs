//! The groups' samples are the definition's, on clouds that hurt.

use super::*;
use rung_lanes::Level;

/// A stream of numbers by its seed (SplitMix64).
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn cloud(&mut self, points: usize, dimension: usize) -> Vec<f64> {
        (0..points * dimension).map(|_| self.unit()).collect()
    }
}

fn grid(side: usize) -> Vec<f64> {
    let cell = |i: usize| [i / (side * side), i / side % side, i % side].map(|x| x as f64);
    (0..side * side * side).flat_map(cell).collect()
}

/// Clouds of D coordinates, each with its name.
fn clouds(dimension: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut stream = Stream(20_261_201);
    let random = stream.cloud(3_000, dimension);
    let few = stream.cloud(40, dimension);
    let doubled = |cloud: &[f64], times: usize| cloud.repeat(times);
    let mut line = vec![0.0; 2_100 * dimension];
    line.iter_mut().step_by(dimension).enumerate().for_each(|(i, x)| *x = (i / 3) as f64);
    let mut flat = random.clone();
    flat.iter_mut().step_by(dimension).for_each(|x| *x = 0.25);
    let mut apart = random.clone();
    apart[..1_500 * dimension].iter_mut().for_each(|x| *x += 1e4);
    let mut far = random.clone();
    far[..3 * dimension].iter_mut().for_each(|x| *x *= 1e7);
    let signs = random.iter().map(|x| if *x < 0.5 { -0.0 } else { 0.0 }).collect();
    let tiny = random.iter().map(|x| x * 1e-22).collect();
    let mut all = vec![
        ("random", random.clone()),
        ("duplicates", doubled(&few, 60)),
        ("line", line),
        ("plane", flat),
        ("two clusters", apart),
        ("outliers, all others in one cell", far),
        ("far from the origin", random.iter().map(|x| x + 1e6).collect()),
        ("zeros of both signs", signs),
        ("squares below the normal numbers of f32", tiny),
        ("one point", vec![0.5; dimension]),
        ("one point many times", vec![0.5; 2_500 * dimension]),
    ];
    for points in [2, 31, 32, 33, 1_023, 1_024, 1_025, 2_048, 2_049] {
        all.push(("a count near a limit", stream.cloud(points, dimension)));
    }
    if dimension == 3 {
        all.push(("grid", grid(14)));
    }
    all
}

fn assert_same<T: Coordinate, const D: usize>(name: &str, coordinates: &[f64], wanted: &Wanted) {
    let narrow: Vec<T> = coordinates.iter().map(|&x| T::of(x)).collect();
    let cloud = Cloud::new(&narrow, D).unwrap();
    let plan = plan(&cloud, wanted).unwrap();
    let (plain, _) = definition::run(&cloud, &plan, |_| ());
    for level in Level::available() {
        let lanes = Lanes::with(level, if level == Level::Portable { 1 } else { 2 });
        let (pruned, _) = pruned::run::<T, D>(&lanes, &cloud, &plan);
        let context = format!("{name}, {} of {D}, {}, {wanted:?}", cloud.len(), T::TYPE);
        let differs = plain.indices.iter().zip(&pruned.indices).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{context}: {level:?}");
        assert!(plain == pruned, "{context}: {level:?}: lengths, radii or covering radius");
    }
}

fn on_every_cloud<const D: usize>() {
    for (name, cloud) in clouds(D) {
        let points = cloud.len() / D;
        for count in [1, points / 2, points, points + 5] {
            let wanted = Wanted { count, ..Wanted::default() };
            assert_same::<f32, D>(name, &cloud, &wanted);
            assert_same::<f64, D>(name, &cloud, &wanted);
        }
    }
}

#[test]
fn the_groups_give_the_definition_s_samples_of_one_coordinate() {
    on_every_cloud::<1>();
}

#[test]
fn the_groups_give_the_definition_s_samples_of_two_coordinates() {
    on_every_cloud::<2>();
}

#[test]
fn the_groups_give_the_definition_s_samples_of_three_coordinates() {
    on_every_cloud::<3>();
}

#[test]
fn the_groups_give_the_definition_s_samples_of_four_coordinates() {
    on_every_cloud::<4>();
}

/// Points of more than three coordinates were given to the plain loop, a hundred times as long.
#[test]
fn clouds_of_every_width_are_grouped_and_keep_their_bits() {
    let lanes = Lanes::new(2);
    for dimension in 4..=16 {
        let mut coordinates = Stream(dimension as u64).cloud(900, dimension);
        let again = coordinates[..40 * dimension].to_vec();
        coordinates.extend(again);
        let cloud = Cloud::new(&coordinates, dimension).unwrap();
        for count in [1, 120, 940] {
            let wanted = Wanted { count, start: vec![7], ..Wanted::default() };
            let (plain, _) = sample_plainly(&cloud, &wanted).unwrap();
            let (grouped, counts) = sample(&lanes, &cloud, &wanted).unwrap();
            assert!(plain == grouped, "{count} of {dimension} coordinates");
            assert!(counts.tests > 0, "{count} of {dimension} coordinates");
        }
    }
}

#[test]
fn starts_masks_and_radii_are_obeyed_alike() {
    for (name, cloud) in clouds(3) {
        let points = cloud.len() / 3;
        let start: Vec<usize> =
            [points - 1, points / 3, points / 2].into_iter().take(points).collect();
        let mut start: Vec<usize> = start;
        start.dedup();
        start.sort_unstable();
        start.dedup();
        start.reverse();
        let mask: Vec<bool> = (0..points).map(|i| i % 3 != 1 || start.contains(&i)).collect();
        for radius in [None, Some(0.0), Some(0.2)] {
            for mask in [None, Some(&mask[..])] {
                let wanted =
                    Wanted { count: points / 2 + start.len(), start: start.clone(), radius, mask };
                assert_same::<f32, 3>(name, &cloud, &wanted);
            }
        }
    }
}

/// A group of which every point is a start on a sample had none of its greatest distance left.
#[test]
fn starts_may_lie_on_one_another() {
    let mut cloud = vec![0.5; 2_500 * 3];
    let start: Vec<usize> = (0..2_500).rev().collect();
    let wanted = |count, starts: usize| Wanted {
        count,
        start: start[..starts].to_vec(),
        ..Wanted::default()
    };
    for (count, starts) in [(2_500, 2_500), (2_500, 1_200), (1_200, 1_200)] {
        assert_same::<f32, 3>("one point many times", &cloud, &wanted(count, starts));
    }
    cloud[0] = 9.0;
    assert_same::<f64, 3>("but for one", &cloud, &wanted(2_499, 2_499));
    assert_same::<f64, 3>("but for one", &cloud, &wanted(2_500, 2_400));
}

#[test]
fn radii_never_rise_and_shorter_runs_begin_longer_ones() {
    let cloud = Stream(7).cloud(5_000, 3);
    let cloud = Cloud::new(&cloud, 3).unwrap();
    let lanes = Lanes::new(1);
    let run = |count| sample(&lanes, &cloud, &Wanted { count, ..Wanted::default() }).unwrap().0;
    let (short, long) = (run(700), run(1_500));
    assert_eq!(short.indices[..], long.indices[..700]);
    assert_eq!(short.radii[..], long.radii[..700]);
    assert!(long.radii.is_sorted_by(|a, b| a >= b));
    assert_eq!((long.radii[0], short.covering), (f64::INFINITY, long.radii[700]));
}

/// Every point once, the duplicates last and in their order (Open3D #7350, pytorch3d #1486).
#[test]
fn all_points_are_chosen_once_with_duplicates_last() {
    let few = Stream(11).cloud(50, 3);
    let cloud = few.repeat(50);
    let cloud = Cloud::new(&cloud, 3).unwrap();
    let wanted = Wanted { count: usize::MAX, ..Wanted::default() };
    let (samples, _) = sample(&Lanes::new(1), &cloud, &wanted).unwrap();
    let mut sorted = samples.indices.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..2_500));
    assert!(samples.indices[50..].is_sorted() && samples.indices[50] == 50);
    assert_eq!(samples.covering, 0.0);
}

/// Of all distances some two of a hundred are computed; the count does not depend on the machine.
#[test]
fn nearly_all_distances_are_left_out() {
    let cloud: Vec<f32> = Stream(3).cloud(20_000, 3).iter().map(|&x| x as f32).collect();
    let cloud = Cloud::new(&cloud, 3).unwrap();
    let wanted = Wanted { count: 600, ..Wanted::default() };
    let (_, counts) = sample(&Lanes::new(1), &cloud, &wanted).unwrap();
    let share = counts.distances as f64 / (20_000.0 * 600.0);
    assert!(share < 0.05, "{share}");
}

/// Without a point that takes part there was no last one to lie on.
#[test]
fn nothing_may_be_asked_of_nothing() {
    let cloud = Stream(5).cloud(2_500, 3);
    let mask = vec![false; 2_500];
    assert_same::<f32, 3>("all masked", &cloud, &Wanted { mask: Some(&mask), ..Wanted::default() });
}

#[test]
fn what_cannot_be_chosen_is_said() {
    let cloud = [0.0f32; 12];
    let cloud = Cloud::new(&cloud, 3).unwrap();
    let refused =
        |wanted: Wanted| plan(&cloud, &wanted).map(|_| ()).unwrap_err().message().to_string();
    let of = |count, start: &[usize]| Wanted { count, start: start.to_vec(), ..Wanted::default() };
    assert_eq!(refused(of(1, &[4])), "start must be below 4, the number of points: got 4");
    assert_eq!(refused(of(2, &[1, 1])), "start 1 is given twice");
    assert_eq!(refused(of(1, &[1, 2])), "2 starts for 1 samples");
    let masked = Wanted { mask: Some(&[true, false, true, true]), ..of(2, &[1]) };
    assert_eq!(refused(masked), "start 1 is masked");
    let short = Wanted { mask: Some(&[true]), ..of(2, &[]) };
    assert_eq!(refused(short), "a mask of 4 points: got 1");
    let radius = Wanted { radius: Some(f64::NAN), ..of(2, &[]) };
    assert_eq!(refused(radius), "radius must be 0 or more: got NaN");
    let none = Cloud::<f32>::new(&[], 3).unwrap();
    assert_eq!(
        plan(&none, &of(1, &[])).map(|_| ()).unwrap_err().message(),
        "no points to choose from"
    );
    assert!(sample(&Lanes::new(1), &none, &of(0, &[])).unwrap().0.indices.is_empty());
}
