/** Whether data sent to the host stays on this machine. An IPv6 address may be in brackets. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
