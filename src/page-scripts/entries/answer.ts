/** Returns true, as soon as the page can answer. */
export function run(): true {
  return true;
}
