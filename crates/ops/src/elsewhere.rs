//! What the names of NumPy and SciPy are called here: an error about a name that does not exist
//! says what to write in its place.
//!
//! The language's own functions of numbers are there as well, for who calls one with an array. A
//! name that exists here with the same meaning is not in the table, and neither is one that
//! differs from ours by `_` for `-`. Where no function does it, an expression says how it is done.

use crate::record::LINALG;
use crate::table;

/// Names of theirs that mean one thing, and what is written here.
pub struct Elsewhere {
    pub names: &'static [&'static str],
    pub here: &'static str,
}

const fn is(names: &'static [&'static str], here: &'static str) -> Elsewhere {
    Elsewhere { names, here }
}

/// In the order of the manual.
pub const ELSEWHERE: &[Elsewhere] = &[
    is(&["array", "asarray", "matrix"], "(la:from-list '((1 2) (3 4)))"),
    is(&["empty"], "(la:zeros shape)"),
    is(&["empty-like"], "(la:zeros-like a)"),
    is(&["identity"], "(la:eye n)"),
    is(&["logspace"], "(la:power 10 (la:linspace start stop n))"),
    is(&["geomspace"], "(la:exp (la:linspace (la:log start) (la:log stop) n))"),
    is(&["range"], "(la:arange start stop step)"),
    is(&["fromfunction"], "(la:emap f (la:arange n))"),
    is(&["vectorize", "apply", "map"], "(la:emap f a b)"),
    is(&["tolist", "list"], "(la:to-list a)"),
    is(&["dtype"], "(array-element-type a)"),
    is(&["cast", "asfarray"], "(la:astype a 'double-float)"),
    is(&["float32", "single"], "(la:astype a 'single-float)"),
    is(&["float64", "double"], "(la:astype a 'double-float)"),
    is(&["int64", "int32", "int"], "(la:astype a '(signed-byte 64))"),
    is(&["diagonal", "diagflat"], "(la:diag a)"),
    is(&["tri"], "(la:tril (la:ones (list n n)))"),
    is(&["length", "len"], "(la:size a), or (first (la:shape a)) for rows"),
    is(&["rank"], "(la:ndim a), or (la:matrix-rank a)"),
    is(&["resize"], "(la:reshape a shape)"),
    is(&["t", "permute", "permute-dims", "matrix-transpose"], "(la:transpose a axes)"),
    is(&["rollaxis"], "(la:moveaxis a from to)"),
    is(&["unsqueeze", "newaxis"], "(la:expand-dims a axis)"),
    is(&["atleast-1d"], "(if (= (la:ndim a) 0) (la:reshape a -1) a)"),
    is(&["atleast-2d"], "(if (= (la:ndim a) 1) (la:expand-dims a 0) a)"),
    is(&["broadcast", "expand"], "(la:broadcast-to a shape)"),
    is(&["hsplit", "vsplit", "dsplit"], "(la:split a n :axis 0)"),
    is(&["array-split"], "(la:split a (list i j) :axis 0), with the positions of the cuts"),
    is(&["fliplr"], "(la:flip a :axis 1)"),
    is(&["flipud"], "(la:flip a :axis 0)"),
    is(&["rot90"], "(la:flip (la:transpose a) :axis 0)"),
    is(&["concat", "cat"], "(la:concatenate (list a b) :axis 0)"),
    is(&["append"], "(la:concatenate (list a b)), of matrices after (la:reshape a -1)"),
    is(
        &["column-stack"],
        "(la:stack (list a b) :axis 1) of vectors, (la:concatenate (list a b) :axis 1) of matrices",
    ),
    is(&["dstack"], "(la:stack (list a b) :axis 2)"),
    is(&["row-stack"], "(la:vstack (list a b))"),
    is(&["insert"], "(la:concatenate (list before new after)), with parts by la:slice"),
    is(&["delete"], "(la:compress mask a :axis 0)"),
    is(&["put"], "(setf (la:take-rows a indices) b)"),
    is(&["putmask", "place", "copyto"], "(setf (la:compress mask a) b)"),
    is(&["fill"], "(la:full shape number), or (fill a number) of a vector"),
    is(&["ix"], "(la:take (la:take a rows :axis 0) columns :axis 1)"),
    is(&["take-along-axis"], "(la:gather a indices), one element of each row"),
    is(&["plus"], "(la:add a b)"),
    is(&["subtract", "minus"], "(la:sub a b)"),
    is(&["multiply", "times"], "(la:mul a b)"),
    is(&["divide", "true-divide"], "(la:div a b)"),
    is(&["floordiv"], "(la:floor-divide a b)"),
    is(&["remainder", "rem"], "(la:mod a b), with the sign of the divisor"),
    is(&["fmod"], "(la:sub a (la:mul b (la:trunc (la:div a b))))"),
    is(&["divmod"], "(la:floor-divide a b) and (la:mod a b)"),
    is(&["pow", "float-power", "expt"], "(la:power a b)"),
    is(&["neg"], "(la:negative a)"),
    is(&["positive"], "(la:copy a)"),
    is(&["absolute", "fabs"], "(la:abs a)"),
    is(&["fmax"], "(la:where (la:isnan a) b (la:where (la:isnan b) a (la:maximum a b)))"),
    is(&["fmin"], "(la:where (la:isnan a) b (la:where (la:isnan b) a (la:minimum a b)))"),
    is(&["arcsin"], "(la:asin a)"),
    is(&["arccos"], "(la:acos a)"),
    is(&["arctan"], "(la:atan a)"),
    is(&["arctan2"], "(la:atan2 a b)"),
    is(&["arcsinh"], "(la:asinh a)"),
    is(&["arccosh"], "(la:acosh a)"),
    is(&["arctanh"], "(la:atanh a)"),
    is(&["deg2rad", "radians"], "(la:mul a (/ pi 180))"),
    is(&["rad2deg", "degrees"], "(la:mul a (/ 180 pi))"),
    is(&["sinc"], "(la:where x (la:div (la:sin (la:mul pi x)) (la:mul pi x)) 1)"),
    is(&["ln"], "(la:log a)"),
    is(&["logaddexp"], "(la:logsumexp (la:stack (list a b)) :axis 0)"),
    is(&["expit"], "(la:sigmoid a)"),
    is(&["logit"], "(la:log (la:div p (la:sub 1 p)))"),
    is(
        &["erfinv", "gamma", "lgamma", "gammaln", "beta"],
        "(la:emap f a), with a function of yours",
    ),
    is(&["rsqrt"], "(la:reciprocal (la:sqrt a))"),
    is(&["ceiling"], "(la:ceil a)"),
    is(&["rint", "around"], "(la:round a)"),
    is(&["fix", "truncate"], "(la:trunc a)"),
    is(&["signum"], "(la:sign a)"),
    is(&["heaviside"], "(la:where (la:equal a 0) b (la:greater a 0))"),
    is(&["eq", "=", "zerop"], "(la:equal a b)"),
    is(&["ne", "/="], "(la:not-equal a b)"),
    is(&["gt", ">", "plusp"], "(la:greater a b)"),
    is(&["ge", ">="], "(la:greater-equal a b)"),
    is(&["lt", "<", "minusp"], "(la:less a b)"),
    is(&["le", "<="], "(la:less-equal a b)"),
    is(
        &["isclose"],
        "(la:less-equal (la:abs (la:sub a b)) (la:add 1d-8 (la:mul 1d-5 (la:abs b)))), or (la:allclose a b)",
    ),
    is(&["array-equiv"], "(la:array-equal a b)"),
    is(&["bitwise-and", "logand"], "(la:bit-and a b)"),
    is(&["bitwise-or", "logior"], "(la:bit-or a b)"),
    is(&["bitwise-xor", "logxor"], "(la:bit-xor a b)"),
    is(&["bitwise-not", "invert", "lognot"], "(la:bit-not a)"),
    is(&["left-shift", "ash"], "(la:shift a n)"),
    is(&["right-shift"], "(la:shift a (- n))"),
    is(&["select", "piecewise"], "(la:where mask x y), one inside another"),
    is(&["mm", "bmm", "multi-dot"], "(la:matmul a b)"),
    is(&["vecdot"], "(la:sum (la:mul a b) :axis -1)"),
    is(&["correlate"], "(la:convolve a (la:flip v) :mode :valid)"),
    is(&["conv", "fftconvolve"], "(la:convolve a v), or (la:conv1d x w)"),
    is(&["max"], "(la:amax a), or (la:maximum a b) of two arrays"),
    is(&["min"], "(la:amin a), or (la:minimum a b) of two arrays"),
    is(&["product"], "(la:prod a)"),
    is(&["average"], "(la:div (la:sum (la:mul a weights)) (la:sum weights)), or (la:mean a)"),
    is(&["ptp"], "(la:sub (la:amax a) (la:amin a))"),
    is(&["stdev", "sd"], "(la:std a)"),
    is(&["variance"], "(la:var a)"),
    is(&["sometrue"], "(la:any a)"),
    is(&["alltrue"], "(la:all a)"),
    is(&["percentile"], "(la:quantile a (/ percent 100))"),
    is(
        &["nanmedian", "nanquantile", "nanpercentile"],
        "(la:quantile (la:compress (la:logical-not (la:isnan a)) a) q)",
    ),
    is(&["nanargmax"], "(la:argmax (la:nan-to-num a :nan most-negative-double-float))"),
    is(&["nanargmin"], "(la:argmin (la:nan-to-num a :nan most-positive-double-float))"),
    is(&["cumulative-sum"], "(la:cumsum a)"),
    is(&["cumulative-prod"], "(la:cumprod a)"),
    is(&["ediff1d"], "(la:diff (la:reshape a -1))"),
    is(&["trapezoid"], "(la:trapz y x)"),
    is(&["flatnonzero"], "(first (la:nonzero (la:flatten a)))"),
    is(&["extract"], "(la:compress mask a)"),
    is(&["lexsort"], "(la:argsort a), from the last key to the first: it is stable"),
    is(&["partition"], "(la:sort a), or (la:topk a k)"),
    is(&["argpartition"], "(la:argsort a), or (la:topk a k)"),
    is(&["digitize"], "(la:searchsorted bins x :side :right)"),
    is(&["in1d", "isin"], "(la:any (la:equal (la:expand-dims a -1) b) :axis -1)"),
    is(&["union1d"], "(la:unique (la:concatenate (list a b)))"),
    is(
        &["intersect1d"],
        "(let ((u (la:unique a))) (la:compress (la:any (la:equal (la:expand-dims u -1) b) :axis -1) u))",
    ),
    is(&["eig", "eigvals"], "(la:eigh m) of a symmetric matrix; there is none of others"),
    is(&["eigvalsh"], "(la:eigh m), whose first value they are"),
    is(&["svdvals"], "(nth-value 1 (la:svd m))"),
    is(&["inverse"], "(la:inv m)"),
    is(&["mldivide"], "(la:solve a b), or (la:lstsq a b)"),
    is(&["lu-factor"], "(la:lu m)"),
    is(&["cho-factor"], "(la:cholesky m)"),
    is(&["cho-solve"], "(la:solve-triangular l b :lower t), and once more with :trans t"),
    is(&["expm"], "(la:matrix-power m n) for whole powers; there is no exponential"),
    is(
        &["polyfit"],
        "(la:lstsq (la:stack (list x (la:ones-like x)) :axis 1) y), the highest power first",
    ),
    is(&["polyval"], "(reduce (lambda (s c) (la:add (la:mul s x) c)) coefficients)"),
    is(&["vander"], "(la:power (la:expand-dims x 1) (la:arange (- n 1) -1 -1))"),
    is(&["fft2", "fftn", "rfft2"], "(la:fft (la:fft m) :axis 0 :complex t)"),
    is(&["rfftfreq"], "(la:div (la:arange (+ (floor n 2) 1)) n)"),
    is(&["fftshift"], "(la:roll a (floor n 2) :axis axis), for every axis of extent n"),
    is(&["ifftshift"], "(la:roll a (- (floor n 2)) :axis axis), for every axis of extent n"),
    is(&["random", "random-sample", "ranf"], "(la:rand shape)"),
    is(&["standard-normal"], "(la:randn shape)"),
    is(&["integers", "random-integers"], "(la:randint low high shape)"),
    is(
        &["default-rng", "generator", "randomstate"],
        "(la:philox seed), for the keyword :generator",
    ),
    is(&["set-seed", "manual-seed"], "(la:seed n)"),
    is(&["shuffle"], "(la:permutation a)"),
    is(&["exponential"], "(la:negative (la:log1p (la:negative (la:rand shape))))"),
    is(&["get-state", "set-state"], "(la:rng-state), which setf also takes"),
    is(&["load"], "(npy:read path), (npz:read path) or (csv:read path :as :matrix)"),
    is(&["save", "savez"], "(npy:write a path) or (npz:write arrays path)"),
    is(&["loadtxt", "genfromtxt", "read-csv"], "(csv:read path :as :matrix)"),
    is(&["savetxt", "to-csv"], "(csv:write a path)"),
];

/// What to write for a name that does not exist here, in whatever module it stands there:
/// `linalg.norm`, `np.arcsin`.
pub fn here(name: &str) -> Option<String> {
    let bare = name.rsplit('.').next().unwrap_or(name).replace('_', "-").to_ascii_lowercase();
    if let Some(known) = ELSEWHERE.iter().find(|e| e.names.contains(&&*bare)) {
        return Some(known.here.to_string());
    }
    // A name of ours behind a module's, or with a line in place of a hyphen.
    let ours = |name: &str| {
        let exported = table::operations().filter(|op| op.package == LINALG);
        exported.flat_map(|op| op.names).find(|known| **known == name)
    };
    ours(&bare).filter(|_| bare != name.to_ascii_lowercase()).map(|known| format!("la:{known}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    /// The names after `la:` in a text.
    fn operations_in(text: &str) -> impl Iterator<Item = &str> {
        text.split("la:").skip(1).map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            &rest[..end.unwrap_or(rest.len())]
        })
    }

    #[test]
    fn what_is_written_here_exists_and_what_is_written_there_does_not() {
        // `emap` calls the language, so that it is no operation of the table.
        let exists = |name: &str| {
            let linalg = |op: &&Op| op.package == LINALG;
            name == "emap" || table::operations().filter(linalg).any(|op| op.names.contains(&name))
        };
        let mut seen = std::collections::HashSet::new();
        for Elsewhere { names, here } in ELSEWHERE {
            for name in operations_in(here) {
                assert!(exists(name), "{here}: there is no la:{name}");
            }
            for name in *names {
                assert!(!exists(name), "{name} exists");
                assert!(seen.insert(name), "{name} stands twice");
                assert!(!name.contains('_') && *name == name.to_lowercase(), "{name}");
            }
        }
    }

    #[test]
    fn names_are_found_in_whatever_module_they_stand() {
        assert_eq!(here("subtract").as_deref(), Some("(la:sub a b)"));
        assert_eq!(here("np.ARCTAN2").as_deref(), Some("(la:atan2 a b)"));
        assert_eq!(here("linalg.norm").as_deref(), Some("la:norm"));
        assert_eq!(here("expand_dims").as_deref(), Some("la:expand-dims"));
        assert_eq!(here("random.standard_normal").as_deref(), Some("(la:randn shape)"));
        assert_eq!((here("norm"), here("quux")), (None, None));
    }
}
