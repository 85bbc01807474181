import { z } from 'zod';
import { time } from '../basics/values.ts';
import { readNetwork } from '../result/network.ts';

const MAX_CHARACTERS = 200;
const PRODUCT = `must be a product such as nginx, or one with its version such as nginx/1.26.3: 1 to ${MAX_CHARACTERS} characters`;
const YES_OR_NO = 'must be true or false';
const NAME = 'must be a host name such as cdn.example.net';
const CERTIFICATE = 'must be the SHA-256 of a certificate in hexadecimal, or a host name such as example.com';
const WORDS = `must be 1 to ${MAX_CHARACTERS} characters with at least one letter or digit`;
const FAVICON = 'must be the hash of a favicon such as -247388890, or its SHA-256 in hexadecimal';
const ADDRESS =
  'must be an IP address, or a network such as 10.1.0.0/16: a prefix of 8 to 32 bits for IPv4, of 16 to 64 for IPv6';
const HOST_NAME = /^(?:\*\.)?[\p{L}\p{N}_-]{1,63}(?:\.[\p{L}\p{N}_-]{1,63})*\.?$/u;

const product = z
  .string()
  .trim()
  .min(1, { error: PRODUCT, abort: true })
  .max(MAX_CHARACTERS, { error: PRODUCT, abort: true });
const yesOrNo = z.enum(['true', 'false'], { error: YES_OR_NO });
const hostName = (error: string) => z.string().trim().max(253, { error, abort: true }).regex(HOST_NAME, { error });

/** Conditions on what the host was. Stored and compared as texts. */
export const hostConditionFields = {
  address: z
    .string()
    .refine((text) => readNetwork(text) !== null, { error: ADDRESS })
    .meta({ description: 'IP address that the target answered from, or a network: `192.0.2.7`, `10.1.0.0/16`.' }),
  server: product.meta({
    description: 'Product of the header `server`, with or without its version: `nginx`, `nginx/1.26.3`.',
  }),
  poweredBy: product.meta({
    description: 'Product of the header `x-powered-by`, with or without its version.',
  }),
  contentSecurityPolicy: yesOrNo.meta({
    description: 'Whether the document came with a `content-security-policy`.',
  }),
  hsts: yesOrNo.meta({ description: 'Whether the document came with `strict-transport-security`.' }),
  certificate: z
    .union([z.string().regex(/^[0-9a-f]{2}(?::?[0-9a-f]{2}){31}$/i), hostName(CERTIFICATE)], { error: CERTIFICATE })
    .meta({
      type: 'string',
      description:
        'SHA-256 of the certificate, or a host name that it is for; a domain also finds its subdomains and `*.domain`.',
    }),
  certificateIssuer: z
    .string()
    .trim()
    .max(MAX_CHARACTERS, { error: WORDS, abort: true })
    .regex(/[\p{L}\p{N}]/u, { error: WORDS })
    .meta({ description: "Words that must all be in the name or organisation of the certificate's issuer." }),
  certificateExpiresBefore: time.meta({
    type: 'string',
    description: 'The certificate ends before this time, by the day (UTC).',
  }),
  favicon: z
    .string()
    .trim()
    .regex(/^(?:-?\d{1,10}|[0-9a-f]{64})$/i, { error: FAVICON })
    .meta({ description: 'Hash of the favicon (MurmurHash3, as Shodan has it), or its SHA-256.' }),
  cname: hostName(NAME).meta({
    description: 'A name in the chain of aliases of the host, or a parent domain of one: `cloudfront.net`.',
  }),
  technology: product.regex(/[^\s,]/, { error: PRODUCT }).meta({
    description:
      'Software of the page, with or without its version, separated by commas: `WordPress,PHP/8.2`. A slash at the end means exactly: `PHP/8.2/` does not find 8.2.1, and `PHP/` finds PHP without a version.',
  }),
};
