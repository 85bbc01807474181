/** For `expect.poll` of what the test's own process knows: asking costs less than the pause of the default interval. */
export const OFTEN = { interval: 20 };
