import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * When there are too many connections, closes the oldest one without a running request. So idle
 * connections, or ones that send their headers slowly, cannot lock out others.
 */
export function closeIdleConnections(server: Server, maxConnections: number): void {
  /**
   * Oldest first. Keyed by address: under TLS, the request and the listener have different socket objects, but the same
   * address.
   */
  const waiting = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const key = addressOf(socket);
    if (waiting.size >= maxConnections) closeOldest(waiting);
    waiting.set(key, socket);
    socket.once('close', () => waiting.delete(key));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const key = addressOf(request.socket);
    const socket = waiting.get(key);
    waiting.delete(key);
    response.once('close', () => {
      if (socket !== undefined && !socket.destroyed) waiting.set(key, socket);
    });
  });
  // Running requests are counted here; connections beyond the limit are closed immediately.
  server.maxConnections = 2 * maxConnections;
}

function closeOldest(waiting: Map<string, Socket>): void {
  const [oldest] = waiting;
  if (oldest === undefined) return;
  waiting.delete(oldest[0]);
  oldest[1].destroy();
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`;
}
