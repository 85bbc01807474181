import { setPriority } from 'node:os';

/**
 * Lowers the priority of the run, so that a browser, with 10 more and at most 19, has half the weight of what runs beside
 * it. A browser of a service has a ninth: beside the builds and databases of other tests, it would come to its captures'
 * deadlines without having drawn anything.
 */
export function setup(): void {
  setPriority(16);
}
