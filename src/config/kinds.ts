import { Resolver } from 'node:dns';
import { z } from 'zod';
import { errorText } from '../capture/basics/error-text.ts';
import { parseTargetList } from '../egress/address-policy.ts';

/*
 * The kinds of service options: what each accepts, and how its schema is described. `options.ts` is the table.
 */

/** Facts of the machine that a default may depend on. */
export interface Machine {
  /** Number of processors that this process may use. */
  readonly cores: number;
}

type OptionValue = string | number | boolean | readonly string[] | null;

export interface OptionFacts {
  /** Conversion of the text of a flag or variable to a value. A `list` is split at commas. */
  readonly kind: 'text' | 'number' | 'list' | 'switch';
  readonly description: string;
  /** Placeholder after the flag in `--help`. */
  readonly placeholder: string;
  /** Accepted values, for people: completes "takes ...". */
  readonly takes: string;
  /** Default value; null means "not set". A function, described by `defaultText`, when it depends on the machine. */
  readonly default: OptionValue | ((machine: Machine) => OptionValue);
  readonly defaultText?: string;
  /** `whole`: never shown. `url`: the credentials in it are never shown. */
  readonly secret?: 'whole' | 'url';
  /** Each use of the flag adds one element, commas included. */
  readonly repeatable?: true;
}

/** Facts of each option, by its schema. */
export const table = z.registry<OptionFacts>();

export type Facts = Omit<OptionFacts, 'kind' | 'takes'>;
/** Facts of a kind whose placeholder and default are the same for most options. */
type Described = Omit<Facts, 'placeholder' | 'default'>;

export function toggle(facts: Described) {
  return z
    .boolean()
    .register(table, { kind: 'switch', takes: 'true or false', placeholder: '', default: false, ...facts });
}

/** A list of texts. */
export function list(element: z.ZodType<string>, facts: Omit<OptionFacts, 'kind' | 'default'>) {
  return z.array(element).register(table, { kind: 'list', default: [], ...facts });
}

export function integer(min: number, max: number, unit: string, facts: Omit<Facts, 'placeholder'>) {
  const takes = `an integer from ${min} to ${max}${unit === '' ? '' : ` (${unit})`}`;
  return z
    .int()
    .min(min)
    .max(max)
    .register(table, { kind: 'number', takes, placeholder: unit === 'milliseconds' ? 'ms' : 'n', ...facts });
}

export function choice<const T extends readonly [string, ...string[]]>(values: T, facts: Facts) {
  return z.enum(values).register(table, { kind: 'text', takes: `one of ${values.join(', ')}`, ...facts });
}

export function targets(facts: Described) {
  return z
    .array(z.string())
    .superRefine((list, context) => {
      try {
        parseTargetList(list);
      } catch (error) {
        context.addIssue({ code: 'custom', message: errorText(error) });
      }
    })
    .register(table, {
      kind: 'list',
      takes: 'addresses, networks and host names, separated by commas',
      placeholder: 'cidr,host,...',
      default: [],
      ...facts,
    });
}

export function nameServers(facts: Described) {
  const takes = 'addresses with or without a port (10.0.0.53, 127.0.0.1:5353, [fd00::53]:53), separated by commas';
  return list(z.string().refine(isNameServer, `it takes ${takes}`), { takes, placeholder: 'address,...', ...facts });
}

/** Returns whether Node's resolver, which the lookups use, accepts a name server. */
function isNameServer(text: string): boolean {
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

export function file(facts: Described & { readonly takes?: string }) {
  return z
    .string()
    .min(1)
    .nullable()
    .register(table, { kind: 'text', takes: 'the path of a file', placeholder: 'file', default: null, ...facts });
}

const BYTE_UNITS = 'KMGT';

/** A number of bytes, or text such as `10G` or `1.5T`. */
export function bytes(facts: Described) {
  const withUnit = z
    .string()
    .regex(new RegExp(`^\\d+(\\.\\d+)?[${BYTE_UNITS}]$`))
    .transform((text) => Math.round(Number(text.slice(0, -1)) * 1024 ** (BYTE_UNITS.indexOf(text.slice(-1)) + 1)));
  return z
    .union([z.number(), withUnit])
    .pipe(z.int().min(1))
    .nullable()
    .register(table, {
      kind: 'number',
      takes: 'a number of bytes from 1, optionally with the unit K, M, G or T (500M, 1.5T)',
      placeholder: 'n',
      default: null,
      ...facts,
    });
}

const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A time in seconds, or text such as `5m`. */
export function duration(max: string, facts: Described) {
  const seconds = (text: string) => Number(text.slice(0, -1)) * (DURATION_UNITS[text.slice(-1)] ?? Number.NaN);
  const withUnit = z
    .string()
    .regex(/^\d+[smhd]$/)
    .transform(seconds);
  return z
    .union([z.number(), withUnit])
    .pipe(z.int().min(1).max(seconds(max)))
    .nullable()
    .register(table, {
      kind: 'number',
      takes: `a number of seconds, or with the unit s, m, h or d (90s, 5m), at most ${max}`,
      placeholder: 'time',
      default: null,
      ...facts,
    });
}

/** A file that holds the value of a secret option, so that the value is not in the process list. */
export function secretFile(flag: string, holds: string) {
  return file({
    description: `A file with the value of ${flag}. Unlike the flag, it does not show in the list of processes.`,
    takes: `the path of a file with ${holds}`,
  });
}
