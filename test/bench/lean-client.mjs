import { connect } from 'node:tls';

/**
 * One TLS connection that writes HTTP/1.1 requests and reads answers with a content-length. node:https would take more of the two cores
 * for a request than the hub itself, and so measure itself.
 */
export async function leanClient({ url, token, ca }) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  socket.setNoDelay(true);
  let waiting;
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = received.toString('latin1', 0, headEnd);
    const length = Number(/^content-length: (\d+)/im.exec(head)[1]);
    if (received.length < headEnd + 4 + length) return;
    const body = received.subarray(headEnd + 4, headEnd + 4 + length);
    received = received.subarray(headEnd + 4 + length);
    const { resolve, reject } = waiting;
    if (head.startsWith('HTTP/1.1 2')) resolve(body);
    else reject(new Error(`${head.slice(0, 30)} ${body}`));
  });
  socket.on('error', (error) => waiting?.reject(error));
  const send = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      const text = body === undefined ? '' : JSON.stringify(body);
      const content = body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n${content}\r\n${text}`);
    });
  return { send, close: () => socket.destroy() };
}
