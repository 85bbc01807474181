import { z } from 'zod';
import { CapstanError } from '../capture/errors.ts';
import type { FieldProblem } from '../capture/failure-details.ts';
import { withSuggestions } from './basics/similar-names.ts';
import { REQUEST_LIMITS } from './request-limits.ts';

/** Maximum number of problems in one answer, for bodies that are full of errors. */
const MAX_LISTED = 5000;
/** Maximum number of unknown names in a value for which similar ones are sought. */
const MAX_SUGGESTIONS = 20;
/** All options at their limits have about 3,000 values. */
const MAX_VALUES = REQUEST_LIMITS.values.max;

/**
 * Parses a value.
 * @throws CapstanError with `invalid_request` and every invalid field.
 */
export function parseOrRefuse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    const dropped = pathOfDroppedName(value);
    if (dropped !== undefined) throw refusal([{ path: fieldPath(dropped), message: 'is not an accepted name' }]);
    return parsed.data;
  }
  throw withSuggestions(MAX_SUGGESTIONS, () => {
    // The texts of errors are made when they are read.
    const { issues } = parsed.error;
    return refusalOf(problemsIn(issues), numberOf(issues));
  });
}

/**
 * Parses each element of a list, and waits for `nextTurn` in between: one takes up to 50 ms. The list is the field
 * `requests`.
 * @throws CapstanError with `invalid_request` and every invalid field of all elements.
 */
export async function parseEach<S extends z.ZodType>(
  schema: S,
  elements: readonly unknown[],
  nextTurn: () => Promise<unknown>,
): Promise<z.output<S>[]> {
  const results: z.ZodSafeParseResult<z.output<S>>[] = [];
  for (const element of elements) {
    if (results.length > 0) await nextTurn();
    results.push(schema.safeParse(element));
  }
  if (results.every((result) => result.success)) return results.map(({ data }) => data);
  throw withSuggestions(MAX_SUGGESTIONS, () => {
    // The texts of errors are made when they are read.
    const issues = results.map(({ error }) => error?.issues ?? []);
    const problems = issues.values().flatMap((ofElement, at) => problemsIn(ofElement, ['requests', at]));
    return refusalOf(problems, numberOf(issues.flat()));
  });
}

export function refusal(problems: readonly FieldProblem[]): CapstanError {
  return refusalOf(problems, problems.length);
}

/** Takes as many problems as are listed: a body can have tens of thousands. */
function refusalOf(problems: Iterable<FieldProblem>, count: number): CapstanError {
  const listed: FieldProblem[] = [];
  let characters = 0;
  for (const problem of problems) {
    characters += problem.path.length + problem.message.length;
    if (listed.length === MAX_LISTED || characters > REQUEST_LIMITS.problems.max) break;
    listed.push(problem);
  }
  const rest = count - listed.length;
  const text = listed.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return new CapstanError('invalid_request', rest > 0 ? `${text}; and ${rest} more` : text, { problems: listed });
}

/** Refuses a request with too many values before they are parsed, which takes far longer than counting. */
export function withFewValues<T>(request: T, context: z.RefinementCtx): T {
  const field = typeof request === 'object' && request !== null ? fieldOfTooManyValues(request) : undefined;
  if (field === undefined) return request;
  const message = `is too much: a request has at most ${MAX_VALUES} names and list elements`;
  context.addIssue({ code: 'custom', path: [field], message });
  return z.NEVER;
}

/** Returns the top-level field with which an object has more than `MAX_VALUES` values; undefined for none. */
function fieldOfTooManyValues(value: object): string | undefined {
  let count = 0;
  for (const [field, inner] of Object.entries(value)) {
    const open: unknown[] = [inner];
    for (count += 1; open.length > 0 && count <= MAX_VALUES; ) {
      const next = open.pop();
      if (typeof next !== 'object' || next === null) continue;
      const values: readonly unknown[] = Object.values(next);
      count += values.length;
      if (count <= MAX_VALUES) open.push(...values);
    }
    if (count > MAX_VALUES) return field;
  }
  return undefined;
}

/** Finds the first `__proto__`, which zod drops silently from records. */
function pathOfDroppedName(value: unknown): PropertyKey[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const [name, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const path = typeof inner === 'object' ? pathOfDroppedName(inner) : undefined;
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}

type Issues = readonly z.core.$ZodIssue[];

function* problemsIn(issues: Issues, place: readonly PropertyKey[] = []): Generator<FieldProblem> {
  for (const issue of issues) {
    const { path, message } = issue;
    for (const name of namesIn(issue)) yield { path: fieldPath([...place, ...path, ...name]), message };
  }
}

const numberOf = (issues: Issues): number => issues.reduce((count, issue) => count + namesIn(issue).length, 0);

/** Returns the steps from the place of an issue to each of its problems. */
function namesIn(issue: z.core.$ZodIssue): readonly (readonly string[])[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [key]) : [[]];
}

/** Formats `['requests', 3, 'url']` as `requests[3].url`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
