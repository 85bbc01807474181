import { z } from 'zod';

/** Facts about an option that its schema cannot hold. */
interface OptionFacts {
  /**
   * True when the value may hold a secret: the record has neither the option nor the digest. May also mark a part of an
   * option, such as the text that an action types.
   */
  readonly secret?: true;
  /** False when the option does not change what the capture shows or records. */
  readonly identity?: false;
  /** Default value as text, when the schema does not hold it. */
  readonly defaultText?: string;
}

/** Facts by schema. Call `register` after `meta` and `optional`, because each of them makes a new schema. */
export const optionFacts = z.registry<OptionFacts>();
