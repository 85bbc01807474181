import { closeSync, openSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { connectionsWithin, descriptorLimit, dialsWithin, readDescriptors } from '../../src/pressure/descriptors.ts';

describe('readDescriptors', () => {
  let opened: number[] = [];

  afterEach(() => {
    for (const descriptor of opened) closeSync(descriptor);
    opened = [];
  });

  it('counts the open descriptors of this process', () => {
    const limit = descriptorLimit();
    const before = readDescriptors(limit)?.open ?? Number.NaN;
    opened = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'));
    expect(readDescriptors(limit)).toEqual({ open: before + 50, limit });
  });

  it('returns null where there is no limit', () => {
    expect(readDescriptors(null)).toBeNull();
  });
});

describe('connectionsWithin', () => {
  it('accepts as many connections as wanted when the limit leaves enough for captures', () => {
    expect(connectionsWithin(1_048_576, 10_000, 8)).toBe(10_000);
    expect(connectionsWithin(null, 10_000, 8)).toBe(10_000);
  });

  it('reserves descriptors for the process and for every capture', () => {
    expect(connectionsWithin(4096, 10_000, 8)).toBe(4096 - 128 - 8 * 80);
  });

  it('gives clients an eighth of a limit that is too low for all captures at once', () => {
    expect(connectionsWithin(256, 10_000, 8)).toBe(32);
    expect(connectionsWithin(256, 20, 8)).toBe(20);
  });
});

describe('dialsWithin', () => {
  it('returns the number that is wanted where an eighth of the descriptors suffices, otherwise fewer', () => {
    expect(dialsWithin(1_048_576, 256)).toBe(256);
    expect(dialsWithin(null, 256)).toBe(256);
    expect(dialsWithin(1024, 256)).toBe(64);
    expect(dialsWithin(8, 256)).toBe(1);
    expect(dialsWithin(1024, 0)).toBe(0);
  });
});
