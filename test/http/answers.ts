import { z } from 'zod';

/** Returns the URL of the next page from `Link: <...>; rel="next"`. */
export function nextPage(response: Response): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(response.headers.get('Link') ?? '')?.[1];
}

/** Returns the path and query of a link, which every api node answers. */
export function targetOf(link: string): string {
  return link.slice(new URL(link).origin.length);
}

const Failure = z.object({
  error: z.string(),
  code: z.string(),
  data: z.object({ problems: z.array(z.object({ path: z.string() })).optional() }).optional(),
});
const Listed = z.array(z.object({ id: z.number() }));

export async function failureOf(response: Response): Promise<z.output<typeof Failure>> {
  return Failure.parse(await response.json());
}

/** Returns the ids of a list, which is a bare array or the data of an envelope. */
export async function idsOf(response: Response): Promise<readonly number[]> {
  const list = z.union([Listed, z.object({ success: z.literal(true), data: Listed }).transform(({ data }) => data)]);
  return list.parse(await response.json()).map(({ id }) => id);
}
