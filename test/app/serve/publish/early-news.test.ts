import { describe, expect, it } from 'vitest';
import { EarlyNews } from '../../../../src/app/serve/publish/early-news.ts';

describe('EarlyNews', () => {
  const told: string[] = [];
  const change = (name: string, isOurs: () => boolean) => ({ isOurs, tell: () => told.push(name) });

  it.each([
    { name: 'what others did is told when the writes are answered', ours: false, want: ['a', 'b'] },
    { name: 'what we did ourselves is not told', ours: true, want: [] },
  ])('$name', async ({ ours, want }) => {
    told.length = 0;
    const news = new EarlyNews();
    let answered = false;
    await news.during('n/web', async () => {
      news.take(
        'n/web',
        change('a', () => answered && ours),
      );
      await Promise.resolve();
      news.take(
        'n/web',
        change('b', () => answered && ours),
      );
      expect(told).toEqual([]);
      answered = true;
    });
    expect(told).toEqual(want);
  });

  it('tells of a placement that is not being written at once, and of one whose writes failed', async () => {
    told.length = 0;
    const news = new EarlyNews();
    const failing = news.during('n/web', async () => {
      news.take(
        'n/web',
        change('web', () => false),
      );
      news.take(
        'n/api',
        change('api', () => false),
      );
      expect(told).toEqual(['api']);
      await Promise.resolve();
      throw new Error('no answer');
    });
    await expect(failing).rejects.toThrow('no answer');
    expect(told).toEqual(['api', 'web']);
    news.take(
      'n/web',
      change('later', () => false),
    );
    expect(told).toEqual(['api', 'web', 'later']);
  });

  it('keeps a bounded number of changes: the rest is told at once', async () => {
    told.length = 0;
    const news = new EarlyNews();
    await news.during('n/web', async () => {
      for (let i = 0; i < 1_500; i++)
        news.take(
          'n/web',
          change(String(i), () => true),
        );
      await Promise.resolve();
      expect(told).toHaveLength(500);
    });
    expect(told).toHaveLength(500);
  });
});
