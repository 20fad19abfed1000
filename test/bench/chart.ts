import type { Run } from './measure.ts';

const WIDTH = 720;
const LEFT = 150;
const BAR = 26;
const GAP = 14;

/** Bars of events per second of CPU, as SVG. */
export function chart(runs: readonly Run[]): string {
  const bars = runs.map(({ name, inFlight, cpuMicros }) => ({
    label: name.endsWith(` ${inFlight}`) ? `${name} in flight` : name,
    value: 1e6 / cpuMicros,
  }));
  const most = Math.max(...bars.map(({ value }) => value));
  const height = bars.length * (BAR + GAP) + 50;
  const rows = bars.map(({ label, value }, index) => {
    const y = 40 + index * (BAR + GAP);
    const width = Math.max(1, ((WIDTH - LEFT - 80) * value) / most);
    const fill = label.startsWith('codaflow') ? '#1a73e8' : '#9aa0a6';
    return (
      `<text x="${LEFT - 8}" y="${y + 18}" text-anchor="end">${label}</text>` +
      `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${fill}"/>` +
      `<text x="${(LEFT + width + 6).toFixed(1)}" y="${y + 18}">${Math.round(value)}</text>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="14">\n` +
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>\n` +
    `<text x="10" y="24" font-weight="bold">Events of 1 KB per second of CPU</text>\n${rows.join('\n')}\n</svg>\n`
  );
}
