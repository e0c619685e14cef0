import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { kubeconfigText } from '../../kube/test/scripted-server.ts';
import { AgentClients } from '../src/agent-clients.ts';

it('a client notices by itself that an API server is back, which nobody asks anything else', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end('ok');
  });
  const listen = async (port: number): Promise<number> => {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  await new Promise((resolve) => server.close(resolve));

  const clients = new AgentClients({ env: {}, clock: systemClock, log: new SilentLogger() });
  const config = loadKubeConfig({ text: kubeconfigText(`http://127.0.0.1:${String(port)}`) });
  const { api, outage, executors } = clients.connect(config);
  let isBack = false;
  outage.onEnd(() => (isBack = true));
  await expect(api.list(MANAGED_CLUSTER)).rejects.toThrow('ECONNREFUSED');
  expect(outage.isOn).toBe(true);
  await listen(port);
  await expect.poll(() => isBack).toBe(true);
  expect(asked).toEqual(['/healthz']);
  api.close();
  executors.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
