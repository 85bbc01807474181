/** Formats a share of pixels: `12.3 %`, `less than 0.01 %`. */
export function shareOf(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.01) return 'less than 0.01 %';
  return `${percent === 0 ? '0' : percent.toFixed(percent < 1 ? 2 : 1)} %`;
}
