/** One line of a plot. */
export interface Series {
  name: string;
  points: readonly { x: number; y: number }[];
}

export interface Plot {
  title: string;
  xLabel: string;
  yLabel: string;
  series: readonly Series[];
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 80;
const RIGHT = 170;
const TOP = 48;
const BOTTOM = 56;

/** Told apart also by those who do not see colours well. Source: Okabe and Ito, 2008. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

/** A picture with logarithmic axes, on which equal ratios are equal distances. It is readable on any ground. */
export function drawPlot({ title, xLabel, yLabel, series }: Plot): string {
  const all = series.flatMap(({ points }) => points);
  const ticks = [...new Set(all.map(({ x }) => x))].toSorted((a, b) => a - b);
  const levels = decadesAround(all.map(({ y }) => y));
  const [lowest, highest] = [Math.log(levels[0]!), Math.log(levels.at(-1)!)];
  const [first, last] = [Math.log(ticks[0]!), Math.log(ticks.at(-1)!)];
  const across = (x: number): number =>
    LEFT + (last === first ? 0.5 : (Math.log(x) - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const up = (y: number): number =>
    HEIGHT - BOTTOM - ((Math.log(y) - lowest) / (highest - lowest)) * (HEIGHT - TOP - BOTTOM);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" role="img">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 26, title, 'start', 'font-size="16" font-weight="bold"'),
    ...levels.flatMap((level) => [
      `<path d="M${LEFT} ${round(up(level))}H${WIDTH - RIGHT}" stroke="#dddddd"/>`,
      text(LEFT - 8, up(level) + 4, level.toLocaleString('en'), 'end'),
    ]),
    ...ticks.map((tick) => text(across(tick), HEIGHT - BOTTOM + 20, tick.toLocaleString('en'), 'middle')),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, xLabel, 'middle'),
    `<text transform="translate(16 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" fill="#222222">${yLabel}</text>`,
    ...series.flatMap(({ name, points }, index) => {
      const colour = COLOURS[index % COLOURS.length]!;
      const sorted = points.toSorted((a, b) => a.x - b.x);
      const path = sorted.map(({ x, y }) => `${round(across(x))} ${round(up(y))}`).join('L');
      const label = TOP + 12 + index * 22;
      return [
        `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...sorted.map(
          ({ x, y }) => `<circle cx="${round(across(x))}" cy="${round(up(y))}" r="4" fill="${colour}"/>`,
        ),
        `<path d="M${WIDTH - RIGHT + 16} ${label - 4}h20" stroke="${colour}" stroke-width="3"/>`,
        text(WIDTH - RIGHT + 42, label, name, 'start'),
      ];
    }),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Powers of ten: all of them from the one below the values to the one above. */
function decadesAround(values: readonly number[]): number[] {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

function text(x: number, y: number, content: string, anchor: string, more = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="#222222" ${more}>${content}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
