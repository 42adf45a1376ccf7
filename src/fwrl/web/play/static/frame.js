// Decodes the binary frames of fwrl/web/play/protocol.py.

const HEADER = 40;
const SIDE = 12;
export const JUMPED = 0x8000;

export function decode(buffer) {
  const view = new DataView(buffer);
  const states = view.getUint16(16, true);
  const flags = view.getUint16(18, true);
  const frame = {
    number: view.getUint32(4, true),
    world: view.getUint32(8, true),
    goal: view.getUint16(12, true),
    start: view.getUint16(14, true),
    playing: (flags & 1) !== 0,
    finished: (flags & 2) !== 0,
    goalMoved: (flags & 4) !== 0,
    episode: view.getUint32(20, true),
    steps: view.getFloat64(24, true),
    rate: view.getFloat32(32, true),
    lowest: view.getFloat32(36, true),
    sides: [],
  };
  let at = HEADER;
  for (let k = 0; k < 2; k++) {
    const trail = view.getUint16(at + 2, true);
    const route = view.getUint16(at + 4, true);
    const side = {
      state: view.getUint16(at, true),
      arrives: (view.getUint8(at + 6) & 1) !== 0,
      steps: view.getUint32(at + 8, true),
    };
    at += SIDE;
    side.pathReward = new Float32Array(buffer.slice(at, at + 4 * states));
    at += 4 * states;
    side.arrows = new Uint8Array(buffer, at, states);
    at += states;
    side.trail = new Uint16Array(buffer.slice(at, at + 2 * trail));
    at += 2 * trail;
    side.route = new Uint16Array(buffer.slice(at, at + 2 * route));
    at += 2 * route;
    frame.sides.push(side);
  }
  if (Number.isNaN(frame.lowest)) frame.lowest = lowestOf(frame.sides);
  return frame;
}

// Until the oracle's optimum is computed, the scale ends at the lowest path reward that either agent knows.
function lowestOf(sides) {
  let lowest = -1e-9;
  for (const side of sides) for (const reward of side.pathReward) if (reward > -Infinity && reward < lowest) lowest = reward;
  return lowest;
}
