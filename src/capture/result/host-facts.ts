import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { instant, sha256 } from '../basics/values.ts';

/** Signs of a technology: where its name, or its own mark, was found. */
const TECHNOLOGY_SIGNS = ['header', 'cookie', 'script', 'meta', 'title', 'favicon'] as const;

/** The 32-bit hash of a favicon by which search engines of devices find hosts. */
export const faviconHash = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1)
  .meta({
    description: 'MurmurHash3 (x86, 32 bits, signed) of the icon in Base64 with line breaks, as Shodan computes it.',
    examples: [-247388890],
  });

const CertificateSchema = z.strictObject({
  subject: z.string().meta({ description: 'Common name; the organisation, or the whole subject, without one.' }),
  names: z.array(z.string()).meta({ description: 'Host names and addresses that it is for, at most 100.' }),
  issuer: z
    .string()
    .meta({ description: 'As `subject`, with the organisation of a common name.', examples: ["R11 (Let's Encrypt)"] }),
  valid_from: instant,
  valid_to: instant,
  sha256: sha256.meta({ description: 'SHA-256 of the certificate (DER).' }),
});

const TechnologySchema = z.strictObject({
  name: z.string(),
  version: z.string().meta({ description: 'Empty when the sign has none.' }),
  sign: z.enum(TECHNOLOGY_SIGNS).meta({ description: 'Where it was found.' }),
});

/** Facts about the host that a page came from. */
export const HostFactsSchema = z.strictObject({
  server: z
    .string()
    .nullable()
    .meta({
      description:
        'The header `server` of the document; empty without one, null when the headers are not known: with another `waitUntil` than `settled`, and without `evidence` of the network.',
      examples: ['nginx/1.26.3'],
    }),
  powered_by: z.string().nullable().meta({
    description: 'The header `x-powered-by`; empty without one, null when the headers are not known.',
  }),
  content_security_policy: z.boolean().nullable().meta({
    description: 'Whether the document came with the header `content-security-policy`.',
  }),
  hsts: z.boolean().nullable().meta({
    description: 'Whether the document came with the header `strict-transport-security`.',
  }),
  certificate: CertificateSchema.nullable().meta({
    description: "The certificate of the document's connection; null without TLS, or when the headers are not known.",
  }),
  favicon: z
    .strictObject({ hash: faviconHash, sha256 })
    .nullable()
    .meta({ description: 'Hashes of the icon; null when it was not requested with `evidence`, or there is none.' }),
  cnames: z.array(z.string()).meta({
    description: 'The chain of aliases (CNAME) that led from the host to the name with the address, at most 8.',
  }),
  technologies: z.array(TechnologySchema).meta({
    description: 'Software that the page and its headers name, each once, with the sign that gave it.',
  }),
});

/** Signs by which software is named: headers of the document, cookies of its own site, and parts of the page. */
export interface SoftwareSigns {
  /** URL of the document. */
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
  /** Elements `meta`, by names in lower case. */
  readonly metas: readonly { readonly name: string; readonly value: string }[];
  /** URLs. */
  readonly scripts: readonly string[];
  /** Software that was found running in the page. */
  readonly libraries: readonly { readonly name: string; readonly version: string }[];
  readonly title: string;
  /** SHA-256 of the favicon; null when it was not loaded, or there is none. */
  readonly favicon: string | null;
}

export type HostFacts = Immutable<z.output<typeof HostFactsSchema>>;
export type Certificate = NonNullable<HostFacts['certificate']>;
export type Technology = HostFacts['technologies'][number];
/** The facts that a page and its connection give. */
export type SeenHostFacts = Omit<HostFacts, 'cnames' | 'technologies'>;
