/** Returns the object with the field, or without it; undefined when nothing is left. */
export function withField(given: Readonly<Record<string, unknown>>, field: string, value: unknown) {
  const { [field]: _old, ...rest } = given;
  const next = value === undefined ? rest : { ...rest, [field]: value };
  return Object.keys(next).length === 0 ? undefined : next;
}
