/**
 * Returns a function that ends the measurement and returns the CPU time of the longest turn of this thread's event loop, in
 * milliseconds. CPU time does not count other programs on the machine.
 */
export function watchTurns(): () => number {
  let [last, longest] = [process.threadCpuUsage(), 0];
  const look = () => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user + now.system - last.user - last.system);
    last = now;
  };
  const timer = setInterval(look, 1);
  return () => {
    clearInterval(timer);
    look();
    return longest / 1000;
  };
}
