import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { lookProblems, metricProblems, pageProblems } from './monitoring.ts';
import { withoutTerraform, Workspace, type Plan } from './terraform.ts';

const PAGES = path.resolve(import.meta.dirname, '../../docs/operations');

describe('monitoring', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  let plan: Plan;
  before(async () => {
    workspace = await new Workspace().open();
    plan = await workspace.plan();
  });
  after(() => workspace.close());

  test('metrics filter on lines that the functions write', () => {
    assert.ok(plan.of('google_logging_metric').length >= 10);
    assert.deepEqual(metricProblems(plan), []);
  });

  test('every metric is looked at, by an alarm or by the dashboard, as what it is', () => {
    assert.deepEqual(lookProblems(plan), []);
  });

  test('every alarm has its page, and every page its alarm', () => {
    const pages = readdirSync(PAGES).filter((file) => file !== 'README.md');
    const alarms = plan.of('google_monitoring_alert_policy').map((r) => `${r.key}.md`);
    assert.deepEqual(pages.sort(), alarms.sort());
    const index = readFileSync(path.join(PAGES, 'README.md'), 'utf8');
    for (const alarm of plan.of('google_monitoring_alert_policy')) {
      const severity = String(alarm.after['severity']).toLowerCase();
      assert.match(index, new RegExp(`\\(${alarm.key}\\.md\\): .* \\| ${severity} \\|`), alarm.key);
    }
  });

  test('pages are whole, and ask for lines and settings that exist', () => {
    for (const page of readdirSync(PAGES).filter((file) => file !== 'README.md')) {
      assert.deepEqual(pageProblems(readFileSync(path.join(PAGES, page), 'utf8'), readdirSync(PAGES)), [], page);
    }
  });

  test('the dashboard has a place for every chart', () => {
    const [dashboard] = plan.of('google_monitoring_dashboard');
    const { mosaicLayout } = JSON.parse(dashboard!.after['dashboard_json'] as string) as {
      mosaicLayout: { columns: number; tiles: { xPos: number; yPos: number; width: number; height: number }[] };
    };
    const places = mosaicLayout.tiles.map((tile) => `${tile.xPos}/${tile.yPos}`);
    assert.equal(new Set(places).size, places.length);
    for (const tile of mosaicLayout.tiles) assert.ok(tile.xPos + tile.width <= mosaicLayout.columns);
  });
});
