use rung_base::DeviceChoice;
#[test]
fn probe_it() {
    let start = std::time::Instant::now();
    let d = rung_device::probe(&DeviceChoice::Named("llvmpipe".into()));
    println!("{:?}", start.elapsed());
    match d {
        Ok(d) => println!("{:?}", d.info()),
        Err(e) => println!("{e}"),
    }
    println!("{:?}", rung_device::adapters());
    println!("{:?}", rung_device::probe(&DeviceChoice::Auto).err());
    println!("{:?}", rung_device::probe(&DeviceChoice::Named("foo".into())).err());
    use rung_kernel::Variants;
    for without_f64 in [false, true] {
        for s in [false, true] {
            let start = std::time::Instant::now();
            let d = rung_device::probe_with(
                "llvmpipe",
                Variants {
                    software_fma_f32: true,
                    software_fma_f64: true,
                    software_divide_f32: true,
                    software_divide_f64: s,
                    software_root_f32: true,
                    software_root_f64: s,
                    without_f64,
                    without_i64: false,
                },
            );
            match d {
                Ok(d) => println!("{:?} {:?}", start.elapsed(), d.info()),
                Err(e) => println!("{e}"),
            }
        }
    }
}
