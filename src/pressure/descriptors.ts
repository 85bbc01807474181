import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../capture/basics/error-code.ts';

/** File descriptors of this process: sockets, files and pipes. */
export interface Descriptors {
  readonly open: number;
  readonly limit: number;
}

/** Descriptors for the process itself, its database and its browsers' pipes. */
const OWN_DESCRIPTORS = 128;
/**
 * Descriptors for one capture: Chromium opens at most 32 connections to the egress proxy, which opens one to a target
 * for each, and at most 16 names are looked up at once.
 */
const CAPTURE_DESCRIPTORS = 80;
/** Descriptors for one dial: a lookup of two address families, or connections to two addresses. */
const DIAL_DESCRIPTORS = 2;

/**
 * Returns the soft limit of this process, which Node has raised to the hard limit (`ulimit -Hn`); null when unknown.
 */
export function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined || soft === 'unlimited' ? null : Number(soft);
  } catch {
    return null;
  }
}

/**
 * Counts the open descriptors; null when the limit is unknown. The caller reads `limit` once, in advance: a process
 * without a free descriptor cannot read it.
 */
export function readDescriptors(limit: number | null): Descriptors | null {
  if (limit === null) return null;
  try {
    // Excludes the descriptor of the directory that is being read.
    return { open: readdirSync('/proc/self/fd').length - 1, limit };
  } catch (error) {
    return isExhaustion(error) ? { open: limit, limit } : null;
  }
}

/**
 * Returns how many connections clients may hold: at most `wanted`, and few enough to leave descriptors for captures.
 * When the limit is too low for `maxConcurrent` captures, clients still get an eighth of it. A quarter would be too
 * much: at a limit of 256, two captures of pages with many connections then fail with EMFILE.
 */
export function connectionsWithin(limit: number | null, wanted: number, maxConcurrent: number): number {
  if (limit === null) return wanted;
  const reserved = OWN_DESCRIPTORS + CAPTURE_DESCRIPTORS * maxConcurrent;
  return Math.max(1, Math.min(wanted, Math.max(limit - reserved, Math.floor(limit / 8))));
}

/**
 * Returns how many targets may be dialled at once: at most `wanted`, and few enough to use an eighth of the
 * descriptors.
 */
export function dialsWithin(limit: number | null, wanted: number): number {
  if (limit === null || wanted === 0) return wanted;
  return Math.max(1, Math.min(wanted, Math.floor(limit / 8 / DIAL_DESCRIPTORS)));
}

function isExhaustion(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EMFILE' || code === 'ENFILE';
}
