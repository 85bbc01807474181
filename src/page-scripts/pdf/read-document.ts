import { web } from '../web.ts';

/** Reads a document of this size, which comes in parts. @throws when another page has read some of it */
export async function readDocument(url: string, bytes: number): Promise<Uint8Array> {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < data.length; ) {
    const response = await web.fetch(url);
    if (!response.ok) throw new Error('the PDF was already read');
    const piece = new Uint8Array(await response.arrayBuffer());
    data.set(piece, at);
    at += piece.length;
  }
  return data;
}
