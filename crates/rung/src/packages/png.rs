//! Package `png`: arrays as pictures. A picture is (height, width) for grey, (height, width, 3)
//! for red, green and blue, (height, width, 4) with opacity; values 0 to 255.
//!
//! A failure leaves no half of a file.

use super::linalg::{array_argument, output_path};
use png::{BitDepth, ColorType, Encoder};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind};
use rung_lisp::lisp::Lisp;
use rung_lisp::native::{Native, native};
use rung_lisp::{Outcome, Value};
use std::path::Path;

pub const FUNCTIONS: &[Native] = &[native(
    "png:write",
    "array path",
    "Writes an array as a PNG picture: (height width) is grey, a last axis of 3 is red, green and \
     blue, of 4 also opacity; values from 0 to 255.\n\
     Result: the path.\n\
     Example: (png:write (la:zeros '(8 8)) \"black.png\")",
    write,
)];

fn write(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let array = array_argument(lisp, "png:write", &arguments[0])?;
    let path = output_path(lisp, "png:write", &arguments[1])?;
    let picture = picture(&array).map_err(|e| e.in_package("png"))?;
    save(&picture, Path::new(&path)).map_err(|e| e.in_package("png"))?;
    Ok(arguments[1].clone())
}

struct Picture {
    width: u32,
    height: u32,
    color: ColorType,
    bytes: Array,
}

fn picture(array: &Array) -> rung_base::Result<Picture> {
    let shape = array.shape();
    let color = match shape[..] {
        [_, _] => ColorType::Grayscale,
        [_, _, 3] => ColorType::Rgb,
        [_, _, 4] => ColorType::Rgba,
        _ => {
            return Err(not_a_picture(array, "a shape of (height width), or with 3 or 4 after it"));
        }
    };
    let side = |extent: usize| u32::try_from(extent).ok().filter(|&n| n > 0 && n < 1 << 31);
    let (Some(height), Some(width)) = (side(shape[0]), side(shape[1])) else {
        return Err(not_a_picture(array, "sides from 1 to 2^31 - 1"));
    };
    let bytes = array
        .convert(ElementType::U8)
        .map_err(|e| e.hint("values run from 0 to 255: scale them, or (la:clip ...) them first"))?;
    Ok(Picture { width, height, color, bytes })
}

/// Writes an array as a picture.
///
/// # Errors
/// A shape that is no picture's, numbers that are not 0 to 255, a file that cannot be written.
pub fn save_picture(array: &Array, path: &Path) -> rung_base::Result<()> {
    save(&picture(array)?, path)
}

fn not_a_picture(array: &Array, wanted: &str) -> Error {
    Error::wanted(ErrorKind::Shape, format!("write expects {wanted}"), array.shape())
}

fn save(picture: &Picture, path: &Path) -> rung_base::Result<()> {
    rung_base::file::replace(path, |file| {
        let mut encoder = Encoder::new(file, picture.width, picture.height);
        encoder.set_color(picture.color);
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(picture.bytes.as_slice::<u8>().unwrap_or(&[]))?;
        writer.finish()?;
        Ok(())
    })
}
