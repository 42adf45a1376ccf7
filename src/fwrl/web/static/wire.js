// The websocket of a page: messages go out as JSON; JSON and binary frames come in. A frame is drawn on the next
// animation frame and acknowledged afterwards, so the server never sends more than the page can draw. People who ask
// for reduced motion get few frames a second.

const CALM = 400; // milliseconds between frames with reduced motion
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Wire {
  // `decode` turns the bytes of a frame into an object with a `number`; `begin` gives the first message's fields.
  constructor({ decode, begin, onMessage, onFrame, onClose }) {
    Object.assign(this, { decode, begin, onMessage, onFrame, onClose });
    this.connect();
  }

  connect() {
    const address = new URL("ws", location.href);
    address.protocol = "ws:";
    address.hash = "";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.send("begin", this.begin());
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.onMessage(JSON.parse(data));
      else if (calm.matches) setTimeout(() => this.draw(socket, this.decode(data)), CALM);
      else requestAnimationFrame(() => this.draw(socket, this.decode(data)));
    };
    socket.onclose = ({ reason }) => this.onClose(reason);
    this.socket = socket;
  }

  draw(socket, frame) {
    try {
      this.onFrame(frame);
    } finally {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ack", frame: frame.number }));
    }
  }

  send(type, fields = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...fields }));
  }
}
