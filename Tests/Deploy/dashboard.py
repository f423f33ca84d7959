"""Writes deploy/grafana-dashboard.json: one row of this table is one panel. Run it after a change of the table."""
import json
import pathlib

# Title, unit of Grafana, and (query, legend) of each line.
ROWS = [
    ("Is it well?", [
        ("Ready", "short", [("perch_ready{instance=~\"$instance\"}", "{{instance}}")]),
        ("Uptime", "s", [("perch_uptime_seconds{instance=~\"$instance\"}", "{{instance}}")]),
        ("Free on the store's disk", "bytes", [("perch_store_disk_free_bytes{instance=~\"$instance\"}", "{{instance}}")]),
        ("Certificate ends in", "s",
         [("(perch_tls_certificate_end_seconds{instance=~\"$instance\"} > 0) - time()", "{{instance}}")]),
    ]),
    ("Business", [
        ("Subscriptions", "short",
         [("perch_subscriptions{instance=~\"$instance\",state!=\"expired\"}", "{{instance}} {{state}}")]),
        ("Purchases a minute", "short", [("60 * rate(perch_purchases_total{instance=~\"$instance\"}[5m])", "{{instance}}")]),
        ("Renewals a minute", "short",
         [("60 * rate(perch_renewals_total{instance=~\"$instance\"}[5m])", "{{instance}} {{result}}")]),
        ("Refunds and ends a minute", "short", [
            ("60 * rate(perch_refunds_total{instance=~\"$instance\"}[5m])", "{{instance}} refunds"),
            ("60 * rate(perch_subscriptions_ended_total{instance=~\"$instance\"}[5m])", "{{instance}} ended")]),
    ]),
    ("Clients", [
        ("Connections", "short", [("perch_connections{instance=~\"$instance\"}", "{{instance}}")]),
        ("Calls and views", "short", [("perch_calls{instance=~\"$instance\"}", "{{instance}} calls"),
                                      ("perch_views{instance=~\"$instance\"}", "{{instance}} views")]),
        ("Refusals a second", "short",
         [("sum by (instance, reason) (rate(perch_refusals_total{instance=~\"$instance\"}[5m])) > 0",
           "{{instance}} {{reason}}")]),
        ("Connections refused, stalled, cut off a second", "short", [
            ("sum by (instance) (rate(perch_connections_refused_total{instance=~\"$instance\"}[5m]))", "{{instance}} refused"),
            ("rate(perch_connections_stalled_total{instance=~\"$instance\"}[5m])", "{{instance}} stalled"),
            ("sum by (instance) (rate(perch_connections_cut_off_total{instance=~\"$instance\"}[5m]))",
             "{{instance}} cut off")]),
    ]),
    ("Latency", [
        ("From commit to push", "s", [
            (f"histogram_quantile({q}, sum by (instance, le) (rate(perch_push_seconds_bucket{{instance=~\"$instance\"}}[5m])))",
             f"{{{{instance}}}} p{int(q * 100)}") for q in (0.5, 0.99)]),
        ("Commit, fsync included", "s", [
            ("histogram_quantile(%s, sum by (instance, le) "
             "(rate(perch_store_commit_seconds_bucket{instance=~\"$instance\"}[5m])))" % q,
             f"{{{{instance}}}} p{int(q * 100)}") for q in (0.5, 0.99)]),
        ("Iteration of a loop", "s", [
            ("histogram_quantile(0.99, sum by (instance, le) "
             "(rate(perch_loop_turn_seconds_bucket{instance=~\"$instance\"}[5m])))", "{{instance}} p99")]),
        ("Revisions that a loop is behind", "short", [
            ("perch_revision{instance=~\"$instance\"} - on (instance) group_right () perch_loop_applied_revision",
             "{{instance}} loop {{loop}}")]),
    ]),
    ("Load", [
        ("Changes and pushes a second", "short", [
            ("rate(perch_store_changes_total{instance=~\"$instance\"}[5m])", "{{instance}} changes"),
            ("rate(perch_values_pushed_total{instance=~\"$instance\"}[5m])", "{{instance}} values pushed")]),
        ("Traffic", "Bps", [("rate(perch_received_bytes_total{instance=~\"$instance\"}[5m])", "{{instance}} in"),
                            ("rate(perch_sent_bytes_total{instance=~\"$instance\"}[5m])", "{{instance}} out")]),
        ("Processor", "percentunit", [("rate(process_cpu_seconds_total{instance=~\"$instance\"}[5m])", "{{instance}}")]),
        ("Memory", "bytes", [("process_resident_memory_bytes{instance=~\"$instance\"}", "{{instance}} resident"),
                             ("perch_record_cache_bytes{instance=~\"$instance\"}", "{{instance}} record cache")]),
    ]),
    ("Store", [
        ("Size", "bytes", [("perch_store_file_bytes{instance=~\"$instance\"}", "{{instance}} file"),
                           ("perch_store_log_bytes{instance=~\"$instance\"}", "{{instance}} log")]),
        ("Without room, failed commits", "short", [
            ("perch_store_without_room{instance=~\"$instance\"}", "{{instance}} without room"),
            ("increase(perch_store_failed_batches_total{instance=~\"$instance\"}[5m])", "{{instance}} failed")]),
        ("Age of the last backup", "s", [
            ("time() - (perch_backup_last_timestamp_seconds{instance=~\"$instance\"} > 0)", "{{instance}}")]),
        ("Events that wait", "short", [("perch_inbox_depth{instance=~\"$instance\"}", "{{instance}} {{inbox}}")]),
    ]),
]


def dashboard():
    panels, y, number = [], 0, 1
    source = {"type": "prometheus", "uid": "${source}"}
    for title, row in ROWS:
        panels.append({"type": "row", "title": title, "id": number, "collapsed": False, "panels": [],
                       "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}})
        number, y = number + 1, y + 1
        width = 24 // len(row)
        for place, (name, unit, lines) in enumerate(row):
            panels.append({
                "type": "timeseries", "title": name, "id": number, "datasource": source,
                "gridPos": {"h": 8, "w": width, "x": place * width, "y": y},
                "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
                "targets": [{"refId": chr(65 + index), "expr": query, "legendFormat": legend, "datasource": source}
                            for index, (query, legend) in enumerate(lines)]})
            number += 1
        y += 8
    return {
        "title": "Perch", "uid": "perch", "schemaVersion": 39, "version": 1, "tags": ["perch"], "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [
            {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"},
            {"name": "instance", "label": "Server", "type": "query", "datasource": source, "multi": True,
             "includeAll": True, "query": "label_values(perch_ready, instance)", "refresh": 2}]},
        "panels": panels}


def text():
    return json.dumps(dashboard(), indent=1) + "\n"


if __name__ == "__main__":
    (pathlib.Path(__file__).resolve().parents[2] / "deploy" / "grafana-dashboard.json").write_text(text())
