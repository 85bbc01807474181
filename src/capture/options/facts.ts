import { z } from 'zod';

/** Facts about an option that its schema cannot hold. */
interface OptionFacts {
  /**
   * Whether the value may hold a secret: then the record has neither the option nor the digest. Also of a part of an
   * option, such as a selector. @default true for a text, else false
   */
  readonly secret?: boolean;
  /** False when the option does not change what the capture shows or records. */
  readonly identity?: false;
  /** Default value as text, when the schema does not hold it. */
  readonly defaultText?: string;
}

/** Facts by schema. Register them on the outermost schema; `secret` also works on an inner one. */
export const optionFacts = z.registry<OptionFacts>();
