import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type CaptureOptions, type CaptureRequest, DEFAULT_REQUEST } from '../request.ts';
import { findDevice } from './devices.ts';
import { optionFacts } from './facts.ts';
import { factsOfOption, optionFields } from './groups.ts';
import { DEFAULT_PDF } from './pdf.ts';
import type { Viewport } from './screenshot.ts';

/**
 * Maximum length of a recorded option as JSON, because lists of records carry them. A list of twenty selectors is
 * shorter; style sheets may be longer.
 */
const MAX_RECORDED_CHARACTERS = 2000;

export interface RecordedOptions {
  /** Options of a `ScreenshotRequest`, as it would be written again. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of the options whose values the record leaves out: they may be secret, or they are too long. */
  readonly options_withheld: readonly string[];
}

/** Returns how a capture was made: the options whose values differ from the built-in defaults. */
export function recordedOptions(request: CaptureRequest): RecordedOptions {
  const secrets = secretOptions(request);
  const chosen = Object.entries(chosenOptions(request));
  const isWithheld = (name: string, value: unknown): boolean =>
    secrets.includes(name) || JSON.stringify(value).length > MAX_RECORDED_CHARACTERS;
  return {
    options: Object.fromEntries(chosen.filter(([name, value]) => !isWithheld(name, value))),
    options_withheld: chosen.filter(([name, value]) => isWithheld(name, value)).map(([name]) => name),
  };
}

/** Returns the names of the request's options that hold a secret. */
export function secretOptions(request: CaptureRequest): readonly string[] {
  const values: Readonly<Record<string, unknown>> = request;
  const defaults: Readonly<Record<string, unknown>> = DEFAULT_REQUEST;
  return Object.entries(optionFields)
    .filter(([name, schema]) => values[name] !== defaults[name] && holdsSecret(schema, values[name]))
    .map(([name]) => name);
}

/**
 * Returns whether a value contains anything that its schema, or the schema of one of its parts, marks as secret, or a
 * text without `secret: false`. The value is one that the schema has parsed.
 */
function holdsSecret(schema: z.core.$ZodType, value: unknown): boolean {
  if (value === undefined) return false;
  const stated = optionFacts.get(schema)?.secret;
  if (stated !== undefined || schema._zod.def.type === 'string') return stated ?? true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return holdsSecret(schema.unwrap(), value);
  if (schema instanceof z.ZodPipe)
    return holdsSecret(schema.in instanceof z.ZodTransform ? schema.out : schema.in, value);
  if (schema instanceof z.ZodUnion) {
    // Parsing costs far more, and few choices hold secrets.
    return schema.options.some(
      (choice: z.core.$ZodType) => holdsSecret(choice, value) && z.safeParse(choice, value).success,
    );
  }
  if (typeof value !== 'object' || value === null) return false;
  if (schema instanceof z.ZodArray) return Object.values(value).some((item) => holdsSecret(schema.element, item));
  if (schema instanceof z.ZodRecord) return Object.values(value).some((item) => holdsSecret(schema.valueType, item));
  if (!(schema instanceof z.ZodObject)) return false;
  return Object.entries(value).some(([name, part]) => {
    const field = schema.shape[name];
    return field !== undefined && holdsSecret(field, part);
  });
}

/** Turns a parsed request back into the options that it was written with, without those at their defaults. */
function chosenOptions({
  target: _target,
  callback: _callback,
  scan: _scan,
  cookieBanners,
  viewport,
  userAgent,
  pdf,
  ...same
}: CaptureRequest): CaptureOptions {
  const device = same.device === undefined ? undefined : findDevice(same.device);
  const paper = differing(pdf, DEFAULT_PDF);
  // The others say how the request is answered, and not how the capture is made.
  const makesTheCapture = ([name]: readonly [string, unknown]) => factsOfOption(name)?.identity !== false;
  const usual = (device ?? DEFAULT_REQUEST).viewport;
  return {
    ...Object.fromEntries(Object.entries(differing(same, DEFAULT_REQUEST)).filter(makesTheCapture)),
    ...(isDeepStrictEqual(viewport, usual) ? {} : { viewport: writtenViewport(viewport, usual) }),
    ...(userAgent === device?.userAgent ? {} : { userAgent }),
    ...(cookieBanners === 'accept' ? { acceptCookieBanners: true } : {}),
    ...(cookieBanners === 'reject' ? { rejectCookieBanners: true } : {}),
    ...(Object.keys(paper).length === 0 ? {} : { pdf: paper }),
  };
}

/** Writes a device's viewport by what differs: with both sides it would be a desktop's without a screen of its own. */
function writtenViewport({ width, height, deviceScaleFactor, mobile, touch, screen }: Viewport, usual: Viewport) {
  const sides = { width, height, deviceScaleFactor };
  if (mobile || touch || screen !== undefined) return differing(sides, usual);
  return deviceScaleFactor === 1 ? { width, height } : sides;
}

/** Returns the fields whose values differ from those of `defaults`. */
function differing(values: object, defaults: object): Readonly<Record<string, unknown>> {
  const usual: Readonly<Record<string, unknown>> = { ...defaults };
  return Object.fromEntries(
    // The cheap comparison comes first, because most options have their default.
    Object.entries(values).filter(([name, value]) => value !== usual[name] && !isDeepStrictEqual(value, usual[name])),
  );
}
