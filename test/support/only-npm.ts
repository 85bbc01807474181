import { whyNoMongo } from './mongo.ts';

/** Lets the run leave out the tests with MongoDB where there is none. */
export async function setup(): Promise<void> {
  // In CI too, this run is the one without MongoDB; `npm run test:all` requires it there.
  delete process.env.CI;
  process.env.ONLY_NPM = 'true';
  const whyNot = await whyNoMongo();
  if (whyNot !== undefined) process.stderr.write(`The tests with MongoDB do not run: ${whyNot}\n`);
}
