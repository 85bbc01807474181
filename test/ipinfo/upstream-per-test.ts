import { afterEach, beforeEach } from 'vitest';
import { Upstream } from './upstream.ts';

/** Starts an upstream for each test. */
export function upstreamPerTest(): Upstream {
  const upstream = new Upstream();
  beforeEach(() => upstream.listen());
  afterEach(() => upstream[Symbol.asyncDispose]());
  return upstream;
}
