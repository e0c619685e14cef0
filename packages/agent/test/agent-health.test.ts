import { expect, it } from 'vitest';
import { AgentHealth } from '../src/agent-health.ts';

const works = { problem: undefined };

it('an agent is ready when it has read its works and reaches both API servers', () => {
  const health = new AgentHealth();
  const cluster: { problem: string | undefined } = { problem: undefined };
  const pulse = health.add('edge', cluster);
  expect(health.isReady).toBe(false);
  expect(health.problems).toEqual(['edge: is not registered at a hub, or has not listed its works yet']);
  pulse.hub = works;
  expect(health).toMatchObject({ isReady: true, problems: [] });
  cluster.problem = 'the API server https://edge has not answered for 5 s';
  expect(health.problems).toEqual(['edge: the API server https://edge has not answered for 5 s']);
  expect(health.isReady).toBe(false);
});

it('each agent of one cluster that has several hubs counts', () => {
  const health = new AgentHealth();
  health.add('edge', works).hub = works;
  health.add('edge', works);
  expect(health).toMatchObject({
    isReady: true,
    problems: ['edge: is not registered at a hub, or has not listed its works yet'],
  });
});

it('a process is ready while one of its agents works, and names the others', () => {
  const health = new AgentHealth();
  health.add('one', works).hub = works;
  health.add('two', works).hub = { problem: 'the API server https://hub refuses the credentials' };
  expect(health).toMatchObject({
    isReady: true,
    problems: ['two: the API server https://hub refuses the credentials'],
  });
});
