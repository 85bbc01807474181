import { z } from 'zod';
import { CapstanError } from '../capture/errors.ts';
import type { FieldProblem } from '../capture/failure-details.ts';
import { REQUEST_LIMITS } from './request-limits.ts';
import { withSuggestions } from './similar-names.ts';

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
  // The texts of errors are made when they are read.
  const problems = parsed.success
    ? droppedNames(value)
    : withSuggestions(MAX_SUGGESTIONS, () => parsed.error.issues).flatMap(fieldProblems);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw refusal(problems);
}

export function refusal(problems: readonly FieldProblem[]): CapstanError {
  let characters = 0;
  const listed = problems.slice(0, MAX_LISTED).filter(({ path, message }) => {
    characters += path.length + message.length;
    return characters <= REQUEST_LIMITS.problems.max;
  });
  const rest = problems.length - listed.length;
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

/** Finds `__proto__`, which zod drops silently from records. */
function droppedNames(value: unknown, path: readonly PropertyKey[] = []): readonly FieldProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = [...path, Array.isArray(value) ? Number(name) : name];
    if (name === '__proto__') return [{ path: fieldPath(at), message: 'is not an accepted name' }];
    return droppedNames(inner, at);
  });
}

function fieldProblems(issue: z.core.$ZodIssue): readonly FieldProblem[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: fieldPath(issue.path), message: issue.message }];
  return issue.keys.map((key) => ({ path: fieldPath([...issue.path, key]), message: issue.message }));
}

/** Formats `['requests', 3, 'url']` as `requests[3].url`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
