/** Devices that the interface offers by name; the service knows more. */
export const DEVICES = [
  'iPhone 15',
  'iPhone 15 Pro Max',
  'iPhone SE',
  'Pixel 10',
  'Galaxy S24',
  'iPad Mini',
  'iPad Pro 11',
  'iPad Pro 11 landscape',
] as const;
