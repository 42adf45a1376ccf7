// Colours: a scale from violet over blue and green to yellow whose lightness always rises, so that it is readable with any
// colour vision and in print without colour. Interpolated in OKLab, where equal steps look equal.

const ANCHORS = ["#3e2e84", "#3058ac", "#1484ac", "#26b28c", "#96d654", "#ffe44d"];
const STEPS = 256;

function linear(channel) {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function gamma(c) {
  const bounded = Math.min(1, Math.max(0, c));
  return Math.round(255 * (bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055));
}

function toLab(hex) {
  const [r, g, b] = [1, 3, 5].map((k) => linear(parseInt(hex.slice(k, k + 2), 16)));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function toRgb([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

// 256 colours of three bytes each, from the lowest value to the highest.
export const scale = (() => {
  const labs = ANCHORS.map(toLab);
  const table = new Uint8ClampedArray(3 * STEPS);
  for (let k = 0; k < STEPS; k++) {
    const at = (k / (STEPS - 1)) * (labs.length - 1);
    const i = Math.min(labs.length - 2, Math.floor(at));
    table.set(toRgb(labs[i].map((v, c) => v + (at - i) * (labs[i + 1][c] - v))), 3 * k);
  }
  return table;
})();

export const LIGHT_FROM = 140; // from this step of the scale on, dark marks read better than light ones

export function stepOf(value, lowest) {
  return Math.round((STEPS - 1) * Math.min(1, Math.max(0, 1 - value / lowest)));
}

export function drawScale(canvas) {
  const context = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    const k = 3 * Math.round((x / (canvas.width - 1)) * (STEPS - 1));
    context.fillStyle = `rgb(${scale[k]} ${scale[k + 1]} ${scale[k + 2]})`;
    context.fillRect(x, 0, 1, canvas.height);
  }
}

// The colours of the style sheet, for light or dark.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: read("ink"),
    soft: read("soft"),
    line: read("line"),
    card: read("card"),
    wall: read("wall"),
    flag: read("flag"),
    floor: read("floor"),
    hatch: read("hatch"),
    accent: read("accent"),
    oracle: read("oracle"),
    sides: [read("side-0"), read("side-1")],
  };
}
