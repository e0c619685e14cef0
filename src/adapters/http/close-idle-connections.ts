import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps room for new connections: if there are too many, the oldest connection without a request in progress is closed.
 * So connections that send nothing, or send their headers slowly, never block others.
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
  // Limits connections with requests in progress. Connections beyond it are closed at once.
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
