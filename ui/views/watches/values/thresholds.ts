/**
 * Returns the numbers that conditions of a watch compare a value with: those of `below` and `above`, and of numbers
 * that it equals.
 */
export function thresholdsOf(when: unknown, name: string): readonly number[] {
  if (typeof when !== 'object' || when === null) return [];
  const inner = 'all' in when ? when.all : 'any' in when ? when.any : undefined;
  if (Array.isArray(inner)) return [...new Set(inner.flatMap((each) => thresholdsOf(each, name)))];
  if (!('value' in when) || when.value !== name) return [];
  const { below, above, equals, became }: Readonly<Record<string, unknown>> = { ...when };
  return [below, above, equals, became].filter((each) => typeof each === 'number');
}
