// The websocket: messages go out as JSON; JSON and frames come in. A frame is drawn on the next animation frame and
// only then acknowledged, so the server never sends more than the page can draw.

import { decode } from "./frame.js";

export class Wire {
  constructor({ onMessage, onFrame, onClose }) {
    this.onMessage = onMessage;
    this.onFrame = onFrame;
    this.onClose = onClose;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/ws`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.onMessage(JSON.parse(data));
      else requestAnimationFrame(() => this.draw(socket, decode(data)));
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
