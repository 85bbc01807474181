/** Why an image shows less than was requested. */
export const TRUNCATION_CAUSES = ['format', 'maxHeight', 'limit', 'growth', 'container', 'time'] as const;

/** Empty when nothing is missing. */
export type TruncatedBy = (typeof TRUNCATION_CAUSES)[number] | '';
