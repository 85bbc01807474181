import { z } from 'zod';

/** Facts about an option that its schema cannot hold. */
interface OptionFacts {
  /** True when the value may hold a secret: the capture's digest is not recorded. */
  readonly secret?: true;
  /** False when the option does not change what the capture shows or records. */
  readonly identity?: false;
  /** Default value as text, when the schema does not hold it. */
  readonly defaultText?: string;
}

/** Facts by schema. Call `register` after `meta` and `optional`, because each of them makes a new schema. */
export const optionFacts = z.registry<OptionFacts>();
