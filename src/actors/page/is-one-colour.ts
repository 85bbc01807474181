/** Returns whether an image has the same colour everywhere. */
export async function isOneColour(image: Uint8Array): Promise<boolean> {
  const { default: sharp } = await import('sharp');
  const { channels } = await sharp(image).stats();
  return channels.every(({ min, max }) => min === max);
}
