// The map as the server sends it; `fwrl.web.explore.map_frame` says how it is encoded.

export const FORTH = 1, BACK = 2; // directions of a road
export const DEAD_END = 1; // mark of a state

export function decode(bytes) {
  const [, number, S, R] = new Uint32Array(bytes, 0, 4);
  const [height] = new Float32Array(bytes, 16, 1);
  let at = 20;
  const take = (Type, n) => {
    const part = new Type(bytes, at, n);
    at += part.byteLength;
    return part;
  };
  return {
    number,
    height,
    S,
    R,
    place: take(Float32Array, 2 * S), // x and y of each state, NaN where unknown
    roads: take(Uint32Array, 2 * R), // the two states of each road, those seen most often first
    seen: take(Uint32Array, R),
    directions: take(Uint8Array, R),
    marks: take(Uint8Array, S),
  };
}
