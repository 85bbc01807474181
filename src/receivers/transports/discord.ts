import { z } from 'zod';
import type { Notice } from '../notice.ts';
import type { Transport } from '../transport.ts';
import { endOf, exchange, type HttpAnswer, type HttpParts, jsonOf } from './exchange.ts';
import { type LinkedImage, messenger, type SentImage } from './messenger.ts';
import { plain, shownLinks, within } from './plain-text.ts';

/*
 * Discord's webhooks: a message with embeds, and files as multipart/form-data.
 * https://docs.discord.com/developers/resources/webhook#execute-webhook
 */

/**
 * https://docs.discord.com/developers/resources/message#embed-object-embed-limits: a title has at most 256 characters,
 * a description 4096, a field's value 1024, an embed 25 fields, and all texts of a message 6000. These stay below the
 * sum.
 */
const MAX = { title: 256, description: 1400, value: 250, fields: 9 };
/** Longer facts take a line of their own. */
const MAX_INLINE = 40;
/** https://docs.discord.com/developers/reference#uploading-files: 10 MiB for a file without boosts. */
const IMAGE_LIMITS = { maxBytes: 3 * 1024 * 1024, maxSide: 4096 };
const COLOURS = { problem: 0xc0_39_2b, news: 0x2f_80_ed };

/** https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit */
const RateLimitSchema = z.object({ retry_after: z.number().nonnegative() });

interface DiscordOptions extends HttpParts {
  /** `https://discord.com/api/webhooks/<id>/<token>` */
  readonly url: URL;
}

export function discordTransport(options: DiscordOptions): Transport {
  // Without `wait`, Discord answers 204 before it has tried to make the message.
  const url = new URL(options.url);
  url.searchParams.set('wait', 'true');

  return messenger({
    files: IMAGE_LIMITS,
    loads: true,
    refusesImages: ({ status }) => status === 413,
    tell: async (notice, { files, links }, { signal }) => {
      const body = new FormData();
      body.append('payload_json', JSON.stringify(payloadOf(notice, files, links)));
      for (const [at, { bytes, mediaType, fileName }] of files.entries()) {
        body.append(`files[${at}]`, new Blob([new Uint8Array(bytes)], { type: mediaType }), fileName);
      }
      const answer = await exchange({ url, body }, options, signal);
      return endOf(answer, waitOf(answer));
    },
  });
}

function waitOf({ status, headers, body }: HttpAnswer): number | null {
  if (status !== 429) return null;
  const limit = RateLimitSchema.safeParse(jsonOf(body));
  const seconds = limit.success ? limit.data.retry_after : Number(headers['x-ratelimit-reset-after'] ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

function payloadOf(
  { about, sentence, isProblem, facts, links }: Notice,
  files: readonly SentImage[],
  linked: readonly LinkedImage[],
) {
  const shown = shownLinks(links);
  const text = [
    written(sentence, MAX.description),
    shown.map(({ label, url }) => `[${escaped(label)}](${url})`).join(' \u00b7 '),
  ].filter((part) => part !== '');
  const attached = files.map(({ image: { alt }, fileName }) => ({ url: `attachment://${fileName}`, alt }));
  const [first, ...others] = [...attached, ...linked];
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: written(about, MAX.title),
        url: shown[0]?.url,
        description: text.join('\n'),
        color: isProblem ? COLOURS.problem : COLOURS.news,
        fields: facts
          .map(({ label, text: value }) => ({
            name: label,
            value: written(value, MAX.value),
            inline: value.length <= MAX_INLINE,
          }))
          .filter(({ value }) => value !== '')
          .slice(0, MAX.fields),
        image: first === undefined ? undefined : { url: first.url },
      },
      ...others.map(({ alt, url }) => ({ description: escaped(alt), image: { url } })),
    ],
    attachments: files.map(({ image, fileName }, id) => ({ id, filename: fileName, description: image.alt })),
  };
}

function written(text: string, max: number): string {
  return within(plain(text), max, escaped);
}

/**
 * A backslash before punctuation makes it a plain character: no markup, mention, emoji, timestamp or link begins.
 * https://docs.discord.com/developers/reference#message-formatting
 */
function escaped(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}
