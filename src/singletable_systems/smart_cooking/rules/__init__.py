"""Smart Cooking: pure decisions: fan-out, approval, notifications, activity, which recipes suit."""
