import { z } from 'zod';

/** What is known of an option beside its schema. */
interface OptionFacts {
  /** A capture made with it holds somebody's secret: its digest is not recorded. */
  readonly secret?: true;
  /** False when it changes nothing of what the capture shows or records. */
  readonly identity?: false;
  /** The default for people, where the schema does not hold it. */
  readonly defaultText?: string;
}

/** The facts of each option, by its schema. `register` must come after `meta` and `optional`, which make a new schema. */
export const optionFacts = z.registry<OptionFacts>();
