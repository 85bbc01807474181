import type { z } from 'zod';
import { CapstanError } from '../capture/errors.ts';
import type { FieldProblem } from '../capture/failure-details.ts';

/** Maximum number of problems in one answer, for bodies that are full of errors. */
const MAX_LISTED = 5000;

/**
 * Parses a value.
 * @throws CapstanError with `invalid_request` and every invalid field.
 */
export function parseOrRefuse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  const problems = parsed.success ? droppedNames(value) : parsed.error.issues.flatMap(fieldProblems);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw refusal(problems);
}

export function refusal(problems: readonly FieldProblem[]): CapstanError {
  const listed = problems.slice(0, MAX_LISTED);
  const rest = problems.length - listed.length;
  const text = listed.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return new CapstanError('invalid_request', rest > 0 ? `${text}; and ${rest} more` : text, { problems: listed });
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
